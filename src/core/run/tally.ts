import { isKept, OUTCOMES, type Outcome, stopsRun } from '../trajectory/outcome.ts';
import { emptyToolStats, type ToolStats } from '../trajectory/tool-stats.ts';
import type { Usage } from '../trajectory/trajectory.ts';
import { addUsage, NO_USAGE } from '../trajectory/usage.ts';
import { addDuration, emptyHistogram, type Histogram } from './histogram.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** Prompts of one group (a toolset, an image, a model) by how they ended. */
export interface GroupCount {
  prompts: number;
  completed: number;
  kept: number;
  failed: number;
}

/** Running sums over a ledger. Tokens and cost count every attempt, the rest each prompt once. */
export interface Tally {
  attempts: number;
  apiCalls: number;
  usage: Usage;
  outcomes: Record<Outcome, number>;
  tools: ToolStats;
  assistantTurns: number;
  turnsWithReasoning: number;
  promptSeconds: Histogram;
  modelSeconds: Histogram;
  toolsets: Record<string, GroupCount>;
  images: Record<string, GroupCount>;
  models: Record<string, GroupCount>;
}

export function createTally(): Tally {
  return {
    attempts: 0,
    apiCalls: 0,
    usage: NO_USAGE,
    outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Tally['outcomes'],
    tools: emptyToolStats(),
    assistantTurns: 0,
    turnsWithReasoning: 0,
    promptSeconds: emptyHistogram(),
    modelSeconds: emptyHistogram(),
    toolsets: noGroups(),
    images: noGroups(),
    models: noGroups(),
  };
}

/** Counts what every attempt costs, whatever became of it. */
export function tallyAttempt(tally: Tally, entry: LedgerEntry): void {
  tally.attempts += 1;
  tally.apiCalls += entry.api_calls;
  tally.usage = addUsage(tally.usage, entry.usage);
}

/** Counts a prompt by its last attempt. Tools and reasoning count for kept rows only. */
export function tallyPrompt(tally: Tally, entry: LedgerEntry): void {
  if (stopsRun(entry.outcome)) return;
  tally.outcomes[entry.outcome] += 1;
  for (const toolset of entry.toolsets) countGroup(tally.toolsets, toolset, entry.outcome);
  countGroup(tally.images, entry.image, entry.outcome);
  countGroup(tally.models, entry.model, entry.outcome);
  if (!isKept(entry.outcome)) return;
  addDuration(tally.promptSeconds, entry.timing.total_seconds);
  if (entry.api_calls > 0) {
    addDuration(tally.modelSeconds, entry.timing.model_seconds / entry.api_calls);
  }
  tally.assistantTurns += entry.assistant_turns;
  tally.turnsWithReasoning += entry.turns_with_reasoning;
  for (const [name, [count, success, failure]] of Object.entries(entry.tools)) {
    const of = tally.tools[name] ?? { count: 0, success: 0, failure: 0 };
    of.count += count;
    of.success += success;
    of.failure += failure;
    tally.tools[name] = of;
  }
}

/** Without a prototype: an image or model may be called `__proto__`. */
function noGroups(): Record<string, GroupCount> {
  return Object.create(null) as Record<string, GroupCount>;
}

function countGroup(groups: Record<string, GroupCount>, name: string, outcome: Outcome): void {
  const of = groups[name] ?? { prompts: 0, completed: 0, kept: 0, failed: 0 };
  groups[name] = of;
  of.prompts += 1;
  if (outcome === 'completed') of.completed += 1;
  if (isKept(outcome)) of.kept += 1;
  if (outcome.startsWith('failed/')) of.failed += 1;
}
