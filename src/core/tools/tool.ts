import type { ToolSchema } from '../ports/model.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { Todo } from './todo-list.ts';

/** What a tool has at hand; one for each conversation. */
export interface ToolContext {
  sandbox: Sandbox;
  /** Aborts when the prompt's time is up or the run stops at once. */
  signal: AbortSignal;
  /** Milliseconds left of the prompt's `timeout`; Infinity without one. */
  remainingMs(): number;
  /** Replaces the runner's secrets in a text, before it is cut to size. */
  redact(text: string): string;
  /** The conversation's list of tasks, kept by the tool `todo` in place. */
  todos: Todo[];
}

/** A tool the model can call. */
export interface Tool {
  schema: ToolSchema;
  /**
   * Runs one call. `args` is parsed JSON, otherwise untrusted. Resolves to the JSON text that the
   * model reads, for failures of the call too (`{"error": …}`). Throws `SandboxLostError`; any
   * other throw is a fault of ours (`failed/tool_crash`).
   */
  run(args: unknown, context: ToolContext): Promise<string>;
}
