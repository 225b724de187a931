import type { LaunchRecord, TaskStop } from '../cloud/launch-record.ts';
import type { TaskDefinition } from '../cloud/task-definition.ts';

/** Why a task was not started; whatever it is, none runs. */
export type StartRefusal = 'capacity' | 'throttled' | 'definition' | 'other';

export type StartAnswer = { arn: string } | { refused: StartRefusal; words: string };

export type TaskView =
  | { arn: string; state: 'alive' }
  | { arn: string; state: 'stopped'; stop: TaskStop }
  | { arn: string; state: 'missing' };

/** The cluster. */
export interface Fleet {
  /** Resolves to its ARN. */
  register(family: string, definition: TaskDefinition): Promise<string>;
  /** Families that begin so, of definitions that can be started. */
  families(prefix: string): Promise<string[]>;
  /** Takes every definition of a family out of use; running tasks go on. */
  deregister(family: string): Promise<void>;
  /**
   * Starts the task of a launch; again with the same launch, it starts none but that one. Rejects
   * where nobody knows whether it was started.
   */
  start(launch: LaunchRecord): Promise<StartAnswer>;
  /** The task that was started under a token. */
  find(token: string): Promise<string | undefined>;
  describe(arns: readonly string[]): Promise<TaskView[]>;
  stop(arn: string, reason: string): Promise<void>;
}
