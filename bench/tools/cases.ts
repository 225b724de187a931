import type { Case } from './case.ts';
import { FILES, SEARCH } from './file-cases.ts';
import { PATCH } from './patch-cases.ts';
import { PROCESS, TERMINAL } from './terminal-cases.ts';

const TODO: Case[] = [
  { tool: 'todo', args: {} },
  {
    tool: 'todo',
    args: {
      todos: [
        { id: '1', content: 'read', status: 'completed' },
        { id: '2', content: 'write', status: 'in_progress' },
      ],
    },
  },
  {
    tool: 'todo',
    args: {
      todos: [
        { id: '2', status: 'completed' },
        { id: '3', content: 'test', status: 'pending' },
      ],
      merge: true,
    },
  },
  {
    tool: 'todo',
    args: { todos: [{ id: '4', content: 'x', status: 'done' }] },
    why: 'ours names the four states; Hermes takes an unknown one for pending',
  },
  { tool: 'todo', args: { todos: 'read' } },
];

/** All calls, in the order in which they are made. */
export const CASES: readonly Case[] = [
  ...TERMINAL,
  ...FILES,
  ...SEARCH,
  ...PATCH,
  ...PROCESS,
  ...TODO,
];
