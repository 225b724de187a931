import type { Outcome } from '../trajectory/outcome.ts';
import type { Usage } from '../trajectory/trajectory.ts';
import type { Coverage } from './coverage.ts';
import { type DurationSummary, summarizeDurations } from './histogram.ts';
import type { RunFile } from './manifest.ts';
import type { GroupCount, Tally } from './tally.ts';

interface ToolRates {
  count: number;
  success: number;
  failure: number;
  /** Percent. */
  success_rate: number;
  failure_rate: number;
}

/** `statistics.json`: first the fields that Hermes writes, then ours. Over all passes of the run. */
export interface Statistics {
  run_name: string;
  distribution: string;
  total_prompts: number;
  total_batches: number;
  batch_size: number;
  model: string;
  completed_at: string;
  /** The time that passes ran, from their start to their last result; pauses between not counted. */
  duration_seconds: number;
  tool_statistics: Record<string, ToolRates>;
  reasoning_statistics: {
    total_assistant_turns: number;
    turns_with_reasoning: number;
    turns_without_reasoning: number;
  };
  /** No model was asked: the trajectories are made up. */
  rehearsal: boolean;
  passes: number;
  attempts: number;
  api_calls: number;
  outcomes: Record<Outcome, number>;
  coverage: Coverage;
  usage: Usage;
  /** Null where the endpoint told no price. */
  cost_usd: number | null;
  latency_seconds: { prompt: DurationSummary; model_call: DurationSummary };
  by_toolset: Record<string, GroupCount>;
  by_image: Record<string, GroupCount>;
  by_model: Record<string, GroupCount>;
}

export interface StatisticsInput {
  run: RunFile;
  tally: Tally;
  coverage: Coverage;
  batches: number;
  /** Time of the run's last result (ISO 8601), or of its start where there is none. */
  lastAt: string;
  durationSeconds: number;
}

/** The statistics of a run: a pure function of what is stored. */
export function statisticsOf(input: StatisticsInput): Statistics {
  const { run, tally, coverage } = input;
  return {
    run_name: run.run_name ?? '',
    distribution: run.manifest.distribution.name,
    total_prompts: coverage.planned,
    total_batches: input.batches,
    batch_size: run.batch_size ?? 0,
    model: run.model ?? '',
    completed_at: input.lastAt,
    duration_seconds: Math.round(input.durationSeconds * 1000) / 1000,
    tool_statistics: toolRates(tally),
    reasoning_statistics: {
      total_assistant_turns: tally.assistantTurns,
      turns_with_reasoning: tally.turnsWithReasoning,
      turns_without_reasoning: tally.assistantTurns - tally.turnsWithReasoning,
    },
    rehearsal: run.manifest.rehearsal,
    passes: run.passes.length,
    attempts: tally.attempts,
    api_calls: tally.apiCalls,
    outcomes: tally.outcomes,
    coverage,
    usage: tally.usage,
    cost_usd: tally.usage.cost_usd,
    latency_seconds: {
      prompt: summarizeDurations(tally.promptSeconds),
      model_call: summarizeDurations(tally.modelSeconds),
    },
    by_toolset: tally.toolsets,
    by_image: tally.images,
    by_model: tally.models,
  };
}

/** Rates of the tools that were called, in percent with two decimals. */
function toolRates(tally: Tally): Record<string, ToolRates> {
  const called = Object.entries(tally.tools).filter(([, of]) => of.count > 0);
  return Object.fromEntries(
    called.map(([name, of]) => [
      name,
      {
        ...of,
        success_rate: percent(of.success, of.count),
        failure_rate: percent(of.failure, of.count),
      },
    ]),
  );
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}
