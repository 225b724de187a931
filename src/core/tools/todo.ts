import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { MAX_TODOS, merged, problemOf, summaryOf, TODO_STATUSES } from './todo-list.ts';

const entry = z.object({
  id: z.string().min(1).max(100).describe('Names the entry within the list.'),
  content: z.string().max(4_000).optional().describe('What is to be done. Required for a new one.'),
  status: z.enum(TODO_STATUSES).optional().describe("Without it a new entry is 'pending'."),
});

/** Keeps the model's own list of what is to be done in this conversation. */
export const todo = defineTool({
  name: 'todo',
  description:
    'Keeps your list of tasks for this conversation, first things first. Without todos it gives the list as it is. For work of several steps: write the plan, keep one entry in_progress, mark each completed once it is.',
  args: z.object({
    todos: z.array(entry).max(MAX_TODOS).optional().describe('Entries to write.'),
    merge: z
      .boolean()
      .default(false)
      .describe('true changes entries of the same id and adds new ones, false replaces the list.'),
  }),
  async run({ todos, merge }, context) {
    if (todos !== undefined) {
      const written = merge ? merged(context.todos, todos) : merged([], todos);
      const problem = problemOf(written);
      if (problem !== undefined) return { error: `todo: nothing was changed: ${problem}` };
      context.todos.splice(0, context.todos.length, ...written);
    }
    return { todos: context.todos, summary: summaryOf(context.todos) };
  },
});
