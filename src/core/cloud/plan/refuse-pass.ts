import { runKeys } from '../bucket-keys.ts';
import type { ClaimDeps } from './claim-upload.ts';
import type { PlanHold } from './plan-hold.ts';

/** Faults that people mend by another upload. */
const REFUSALS = new Set([
  'ConfigError',
  'DatasetError',
  'DistributionUnavailableError',
  'FrozenSettingError',
]);

/** Whether the dataset or its settings are at fault: trying again would give the same. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && REFUSALS.has(error.name);
}

export interface RefuseDeps extends ClaimDeps {
  /** Counts a refused pass where people have their alarms. */
  countRefused(run: string): void;
}

/**
 * Ends a pass that can't be planned, with its words in `error.json`: the run is again what it was
 * before, or `failed` where it was nothing. Resolves to whether a dataset that waited is the next pass.
 */
export async function refusePass(
  hold: PlanHold,
  words: string,
  deps: RefuseDeps,
): Promise<'next' | 'ended'> {
  const { run } = hold;
  const { run_name: runName, pass, dataset } = run;
  const now = deps.now();
  const state = hold.planner.from_state ?? 'failed';
  const error = { at: new Date(now).toISOString(), pass, dataset, error: words };
  await deps.files.put(runKeys(runName).error, `${JSON.stringify(error, null, 2)}\n`);
  deps.log('error', 'pass refused', { run: runName, pass, reason: words, state });
  deps.countRefused(runName);
  // Why a run is paused is still true.
  const reason = state === 'paused' ? undefined : words;
  for (;;) {
    const read = await deps.claims.read(runName);
    if (read === undefined || read.planner?.owner !== hold.planner.owner) return 'ended';
    if (await deps.claims.refuse(read, hold.planner, { state, reason, now })) {
      return read.next_dataset === null ? 'ended' : 'next';
    }
  }
}
