import { beforeAll, describe, expect, it } from 'vitest';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('search_files', () => {
  const { call } = useToolSandbox();

  beforeAll(async () => {
    await call('terminal', {
      command: 'mkdir -p s/t; seq 1 30 > s/a.txt; seq 1 12 > s/t/b.txt; touch s/c.md',
    });
  });

  it('pages through matching lines', async () => {
    const page = { pattern: '^1', path: 's', limit: 2, offset: 1 };
    expect(await call('search_files', page)).toEqual({
      total_count: 4,
      matches: [
        { path: 's/a.txt', line: 10, content: '10' },
        { path: 's/a.txt', line: 11, content: '11' },
      ],
      truncated: true,
      hint: expect.stringContaining('offset=3'),
      note: expect.any(String),
    });
  });

  it('shows lines around', async () => {
    const around = { pattern: '^20$', path: 's', context: 1 };
    expect(await call('search_files', around)).toEqual({
      total_count: 1,
      matches: [
        { path: 's/a.txt', line: 19, content: '19', is_match: false },
        { path: 's/a.txt', line: 20, content: '20', is_match: true },
        { path: 's/a.txt', line: 21, content: '21', is_match: false },
      ],
    });
  });

  it('gives only files, or counts', async () => {
    const of = { pattern: '^1', path: 's' };
    expect(await call('search_files', { ...of, output_mode: 'files_only' })).toEqual({
      total_count: 2,
      files: ['s/a.txt', 's/t/b.txt'],
    });
    expect(await call('search_files', { ...of, output_mode: 'count' })).toEqual({
      total_count: 15,
      counts: { 's/a.txt': 11, 's/t/b.txt': 4 },
    });
  });

  it('finds files by name', async () => {
    const args = { pattern: '*.txt', target: 'files', path: 's', file_glob: 'b*' };
    expect(await call('search_files', args)).toEqual({ total_count: 1, files: ['s/t/b.txt'] });
  });

  it.each([
    [{ pattern: '(' }, /RE2 syntax/],
    [{ pattern: 'x', path: 'nowhere' }, /nowhere: no such file/],
    [{ pattern: 'x', path: '..' }, /inside the work folder/],
    [{ pattern: 'x', limit: 1_001 }, /at most 1000/],
  ])('refuses %j', async (args, error) => {
    expect(await call('search_files', args)).toEqual({ error: expect.stringMatching(error) });
  });
});
