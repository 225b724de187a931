import type { Outcome } from '../trajectory/outcome.ts';
import type { ToolCall, Usage } from '../trajectory/trajectory.ts';

/** A tool as offered to a model: name, description and a JSON Schema of its arguments. */
export interface ToolSchema {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export interface AssistantMessage {
  role: 'assistant';
  content: string;
  /** The model's thinking, "" where it gave none. */
  reasoning: string;
  toolCalls: ToolCall[];
  /**
   * What the adapter needs to hand the thinking back in the next call (signatures, encrypted
   * blocks). Opaque to the core, never written.
   */
  replay?: unknown;
}

export type ModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; toolCallId: string; name: string; content: string };

export interface ModelRequest {
  /** Whose conversation this is; rehearsals and logs key on it, it is not sent. */
  promptId: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolSchema[];
  /** Aborts the call: `complete` then rejects with the signal's reason. */
  signal: AbortSignal;
  /**
   * Aborted when the run is stopping: a call that only waits to be sent, or sent again, then rejects
   * with this signal's reason; one under way is finished, since it is paid for.
   */
  handBack?: AbortSignal;
}

export interface ModelReply {
  message: AssistantMessage;
  /** Why the model stopped. Calls in the payload count whatever this says. */
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  usage: Usage;
}

/** A chat model with tools. */
export interface Model {
  /** One call, retries of passing faults included. Throws `ModelError`. */
  complete(request: ModelRequest): Promise<ModelReply>;
}

export type ModelFailure = Extract<
  Outcome,
  | 'failed/model_error'
  | 'failed/auth'
  | 'failed/credits'
  | 'failed/rate_limited'
  | 'failed/content_filter'
  | 'partial/context'
>;

/** A model call that gave no reply. `outcome` says what that means for the prompt. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly outcome: ModelFailure;
  /** HTTP status, or 0 where there was no answer. */
  readonly status: number;

  constructor(message: string, outcome: ModelFailure, status: number, options?: ErrorOptions) {
    super(message, options);
    this.outcome = outcome;
    this.status = status;
  }
}
