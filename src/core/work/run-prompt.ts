import { type AgentLoopDeps, type LoopTimes, runAgentLoop } from '../agent/agent-loop.ts';
import { startConversation } from '../agent/conversation.ts';
import type { Ending } from '../agent/stop-conditions.ts';
import type { Clock } from '../ports/clock.ts';
import type { Model } from '../ports/model.ts';
import type { AttemptRef, RunObserver } from '../ports/observer.ts';
import { ImageUnavailableError, type Sandbox, type SandboxProvider } from '../ports/sandbox.ts';
import type { PlannedPrompt } from '../run/plan-batches.ts';
import type { Tool } from '../tools/tool.ts';
import { outcomeClass } from '../trajectory/outcome.ts';
import { judge } from '../trajectory/quality.ts';
import { toolErrorCounts } from '../trajectory/tool-stats.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/** What is the same for every prompt of a run. */
export interface PromptSettings {
  runName: string;
  /** As rows name it. */
  model: string;
  maxTurns: number;
  timeoutMs: number;
  keepWithoutReasoning: boolean;
  validToolNames: ReadonlySet<string>;
}

export interface RunPromptDeps {
  model: Model;
  sandboxes: SandboxProvider;
  clock: Clock;
  observer: RunObserver;
  /** The toolsets of a prompt: the same for every attempt, on every machine. */
  drawToolsets(promptId: string): string[];
  /** The tools of these toolsets that are built, by name. */
  toolsOf(toolsets: readonly string[]): ReadonlyMap<string, Tool>;
  /** What a row's image is recorded as: pinned where it could be had. */
  pinOf(image: string): string;
  redact(text: string): string;
  handBack: AbortSignal;
}

interface Attempted {
  ending: Ending | 'handed_back';
  times: LoopTimes;
  sandboxMs: number;
}

/**
 * One attempt of one prompt: a fresh sandbox, the conversation, the verdict. Resolves to its row,
 * whatever the end, or to `handed_back` when the run is stopping. Never throws.
 */
export async function runPrompt(
  prompt: PlannedPrompt,
  ref: AttemptRef,
  settings: PromptSettings,
  deps: RunPromptDeps,
): Promise<Trajectory | 'handed_back'> {
  const { clock } = deps;
  const startedAt = clock.now();
  const from = clock.monotonic();
  const toolsets = deps.drawToolsets(prompt.promptId);
  const conversation = startConversation(prompt.row.prompt, deps.redact);
  const { ending, times, sandboxMs } = await attempt(conversation);
  if (ending === 'handed_back') return ending;
  // A run that is told to stop at once closes its sandboxes under the prompts in flight.
  if (ending.outcome === 'failed/sandbox_lost' && deps.handBack.aborted) return 'handed_back';

  const { outcome, reason } = judge(ending, conversation.turns, settings.keepWithoutReasoning);
  const totalMs = Math.max(0, clock.monotonic() - from);
  // Not asked of the wall clock again: that may have stepped back meanwhile.
  const endedAt = new Date(startedAt + totalMs).toISOString();
  return {
    prompt_index: prompt.promptIndex,
    conversations: conversation.turns,
    metadata: {
      batch_num: ref.batch,
      timestamp: endedAt,
      model: settings.model,
      run_name: settings.runName,
      prompt_id: prompt.promptId,
      sample: prompt.sample,
      image: deps.pinOf(prompt.row.image),
      source: deps.redact(prompt.row.source),
    },
    completed: outcome === 'completed',
    partial: outcomeClass(outcome) === 'partial',
    outcome,
    reason,
    api_calls: conversation.apiCalls,
    toolsets_used: toolsets,
    tool_stats: conversation.stats,
    tool_error_counts: toolErrorCounts(conversation.stats),
    usage: conversation.usage,
    timing: {
      attempt: ref.attempt,
      started_at: new Date(startedAt).toISOString(),
      ended_at: endedAt,
      total_seconds: inSeconds(totalMs),
      model_seconds: inSeconds(times.modelMs),
      tool_seconds: inSeconds(times.toolMs),
      sandbox_seconds: inSeconds(sandboxMs),
    },
  };

  async function attempt(of: typeof conversation): Promise<Attempted> {
    const times: LoopTimes = { modelMs: 0, toolMs: 0 };
    let sandbox: Sandbox | undefined;
    let sandboxMs = 0;
    try {
      const { image, cwd } = prompt.row;
      sandbox = await deps.sandboxes.open({ promptId: prompt.promptId, image, cwd });
      sandboxMs = clock.monotonic() - from;
      const input = {
        promptId: prompt.promptId,
        conversation: of,
        sandbox,
        tools: deps.toolsOf(toolsets),
        validToolNames: settings.validToolNames,
        maxTurns: settings.maxTurns,
        timeoutMs: settings.timeoutMs,
        handBack: deps.handBack,
      };
      return { ending: await runAgentLoop(input, loopDeps(), times), times, sandboxMs };
    } catch (error) {
      return { ending: openingFault(error, deps.redact), times, sandboxMs };
    } finally {
      await sandbox?.close();
    }
  }

  function loopDeps(): AgentLoopDeps {
    return {
      model: deps.model,
      clock,
      redact: deps.redact,
      onReply: (reply) => deps.observer.replied(ref, reply.message, reply.usage),
      onToolResult: (call, result) => deps.observer.toolReturned(ref, call, result),
    };
  }
}

/** The loop types its own faults; what is left comes from opening the sandbox. */
function openingFault(error: unknown, redact: (text: string) => string): Ending {
  const reason = redact(error instanceof Error ? error.message : String(error));
  const outcome =
    error instanceof ImageUnavailableError ? 'failed/image_unavailable' : 'failed/sandbox_lost';
  return { outcome, reason };
}

function inSeconds(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds)) / 1000;
}
