import { type Case, SAFE_BYTES } from './case.ts';

export const FILES: Case[] = [
  {
    tool: 'write_file',
    args: { path: 'w/a.txt', content: 'one\ntwo\nthree\n' },
    look: 'cat w/a.txt',
  },
  { tool: 'write_file', args: { path: 'w/b.txt', content: 'naïve 🙂' }, look: 'cat w/b.txt' },
  { tool: 'write_file', args: { path: 'w/empty', content: '' }, look: 'wc -c < w/empty' },
  {
    tool: 'write_file',
    args: { path: 'w', content: 'x' },
    why: 'ours refuses to write over a folder; Hermes reports success',
  },
  { tool: 'read_file', args: { path: 'w/a.txt' } },
  { tool: 'read_file', args: { path: 'w/a.txt', offset: 2, limit: 1 } },
  { tool: 'read_file', args: { path: 'w/a.txt', offset: 99 } },
  { tool: 'read_file', args: { path: 'w/empty' } },
  { tool: 'read_file', args: { path: 'w/missing' } },
  { tool: 'read_file', args: { path: 'w' } },
  {
    tool: 'terminal',
    args: {
      command: "printf 'a\\000b' > w/bin; seq 1 3000 > w/long; printf 'caf\\351\\n' > w/latin",
    },
  },
  { tool: 'read_file', args: { path: 'w/bin' } },
  { tool: 'read_file', args: { path: 'w/long', limit: 2 } },
  { tool: 'read_file', args: { path: 'w/latin' }, why: SAFE_BYTES },
];

export const SEARCH: Case[] = [
  { tool: 'search_files', args: { pattern: 'tw', path: 'w' } },
  { tool: 'search_files', args: { pattern: '^t', path: 'w/a.txt' } },
  { tool: 'search_files', args: { pattern: 'nothing-like-it', path: 'w' } },
  {
    tool: 'search_files',
    args: { pattern: '*.txt', target: 'files', path: 'w' },
    why: 'ours comes in the order of paths, so that the same tree gives the same bytes; Hermes in the order of last changes',
  },
  { tool: 'search_files', args: { pattern: 't', path: 'w', output_mode: 'files_only' } },
  { tool: 'search_files', args: { pattern: 'o', path: 'w/a.txt', output_mode: 'count' } },
  { tool: 'search_files', args: { pattern: '(', path: 'w' } },
  { tool: 'search_files', args: { pattern: 'x', path: 'nowhere' } },
];
