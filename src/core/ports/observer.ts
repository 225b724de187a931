import type { ToolCall, Trajectory, Usage } from '../trajectory/trajectory.ts';
import type { AssistantMessage } from './model.ts';

/** Which attempt an event is about. */
export interface AttemptRef {
  promptId: string;
  promptIndex: number;
  sample: number;
  batch: number;
  attempt: number;
}

/** Told what happens in a pass, for progress and logs. Must return at once and never throw. */
export interface RunObserver {
  batchStarted(batch: number, prompts: number, image: string): void;
  attemptStarted(attempt: AttemptRef): void;
  replied(attempt: AttemptRef, message: AssistantMessage, usage: Usage): void;
  toolReturned(attempt: AttemptRef, call: ToolCall, result: string): void;
  /** The row is durable and committed. `final` is false where the prompt is tried again. */
  attemptEnded(attempt: AttemptRef, row: Trajectory, final: boolean): void;
  /** The run is stopping: nothing is recorded, a resume runs the prompt again. */
  handedBack(attempt: AttemptRef): void;
  batchClosed(batch: number): void;
}
