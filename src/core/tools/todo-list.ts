export const MAX_TODOS = 256;
export const TODO_STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

export type TodoStatus = (typeof TODO_STATUSES)[number];

export interface Todo {
  id: string;
  content: string;
  status: TodoStatus;
}

/** An entry as a model gives it; of one that is in the list already, only what changes. */
export interface GivenTodo {
  id: string;
  content?: string | undefined;
  status?: TodoStatus | undefined;
}

/** The list with the given entries in it; of equal ids the later one counts. */
export function merged(list: readonly Todo[], given: readonly GivenTodo[]): Todo[] {
  const byId = new Map(list.map((of) => [of.id, of]));
  for (const { id, content, status } of given) {
    const before = byId.get(id);
    byId.set(id, {
      id,
      content: content ?? before?.content ?? '',
      status: status ?? before?.status ?? 'pending',
    });
  }
  return [...byId.values()];
}

/** What is wrong with a list, and the way out. */
export function problemOf(list: readonly Todo[]): string | undefined {
  const empty = list.find(({ content }) => content.trim() === '');
  if (empty !== undefined) {
    return `entry ${JSON.stringify(empty.id)} is new and needs content; with merge=true only entries of the list can do without`;
  }
  if (list.length <= MAX_TODOS) return undefined;
  return `expected at most ${MAX_TODOS} entries, got ${list.length}; replace the list by one without the completed ones`;
}

/** How many entries there are of each status. */
export function summaryOf(list: readonly Todo[]): Record<string, number> {
  const counts = TODO_STATUSES.map((status): [string, number] => [
    status,
    list.filter((of) => of.status === status).length,
  ]);
  return { total: list.length, ...Object.fromEntries(counts) };
}
