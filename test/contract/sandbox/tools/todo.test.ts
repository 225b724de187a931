import { describe, expect, it } from 'vitest';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('todo', () => {
  const { callWith } = useToolSandbox();
  const conversation = () => {
    const call = callWith({ todos: [] });
    return (args: Record<string, unknown>) => call('todo', args);
  };
  const plan = [
    { id: '1', content: 'read', status: 'completed' },
    { id: '2', content: 'write', status: 'in_progress' },
  ];

  it('keeps the list of one conversation apart from another', async () => {
    const [first, second] = [conversation(), conversation()];
    const summary = { total: 2, pending: 0, in_progress: 1, completed: 1, cancelled: 0 };
    expect(await first({ todos: plan })).toEqual({ todos: plan, summary });
    expect(await first({})).toEqual({ todos: plan, summary });
    expect(await second({})).toMatchObject({ todos: [], summary: { total: 0 } });
  });

  it('merges by id, in place, and adds at the end', async () => {
    const todo = conversation();
    await todo({ todos: plan });
    const changes = [
      { id: '3', content: 'test' },
      { id: '1', status: 'cancelled' },
    ];
    expect((await todo({ todos: changes, merge: true }))['todos']).toEqual([
      { id: '1', content: 'read', status: 'cancelled' },
      { id: '2', content: 'write', status: 'in_progress' },
      { id: '3', content: 'test', status: 'pending' },
    ]);
    expect((await todo({ todos: [] }))['todos']).toEqual([]);
  });

  it('takes a list in quotes, and the later of equal ids', async () => {
    const todos = JSON.stringify([...plan, { id: '1', content: 'again', status: 'pending' }]);
    expect((await conversation()({ todos }))['todos']).toEqual([
      { id: '1', content: 'again', status: 'pending' },
      { id: '2', content: 'write', status: 'in_progress' },
    ]);
  });

  it.each([
    [{ todos: [{ id: '9', status: 'pending' }], merge: true }, /"9" is new and needs content/],
    [{ todos: [{ id: '1', status: 'completed' }] }, /needs content; with merge=true/],
    [
      { todos: [{ id: '1', content: 'x', status: 'done' }] },
      /todos\.0\.status: expected "pending" or/,
    ],
    [{ todos: 'read' }, /todos: expected array, got "read"/],
    [
      {
        todos: Array.from({ length: 256 }, (_, id) => ({ id: `n${id}`, content: 'x' })),
        merge: true,
      },
      /at most 256 entries, got 258/,
    ],
  ])('refuses %j and changes nothing', async (args, error) => {
    const todo = conversation();
    await todo({ todos: plan });
    const result = await todo(args);
    expect(result).toEqual({ error: expect.stringMatching(error) });
    expect(toolSucceeded(JSON.stringify(result))).toBe(false);
    expect((await todo({}))['todos']).toEqual(plan);
  });
});
