import { z } from 'zod';
import type { TaskStop } from '../../core/cloud/launch-record.ts';
import type { TaskView } from '../../core/ports/fleet.ts';

const MOST_WORDS = 500;
const text = z
  .string()
  .nullish()
  .transform((value) => (value ?? '').slice(0, MOST_WORDS));

/** A task, as DescribeTasks and the events about it have it. */
const taskSchema = z.object({
  taskArn: z.string(),
  lastStatus: text,
  startedBy: text,
  stopCode: text,
  stoppedReason: text,
  containers: z
    .array(z.object({ name: text, exitCode: z.int().nullish(), reason: text }))
    .nullish(),
});

/** What a task is doing, or how it ended. */
export function taskView(task: unknown): TaskView {
  const parsed = taskSchema.parse(task);
  const arn = parsed.taskArn;
  if (parsed.lastStatus !== 'STOPPED') return { arn, state: 'alive' };
  return { arn, state: 'stopped', stop: stopOf(parsed) };
}

function stopOf(task: z.infer<typeof taskSchema>): TaskStop {
  return {
    code: task.stopCode,
    reason: task.stoppedReason,
    containers: (task.containers ?? []).map(({ name, exitCode, reason }) => ({
      name,
      exit_code: exitCode ?? null,
      reason,
    })),
  };
}

const eventSchema = z.object({
  'detail-type': z.literal('ECS Task State Change'),
  detail: taskSchema,
});

/** The end of a task that an event of EventBridge tells; undefined for any other event. */
export function stopEvent(event: unknown): { token: string; stop: TaskStop } | undefined {
  const { success, data } = eventSchema.safeParse(event);
  if (!success || data.detail.lastStatus !== 'STOPPED' || data.detail.startedBy === '') {
    return undefined;
  }
  return { token: data.detail.startedBy, stop: stopOf(data.detail) };
}
