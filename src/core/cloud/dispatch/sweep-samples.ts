import type { RunRecord } from '../run-record.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { guarded } from './guarded.ts';

const EVERY_MS = 3_600_000;
/** Time to look at what a merge was made of. */
const KEPT_MS = 24 * 3_600_000;
/** Of one step between two looks at the time left. */
const AT_ONCE = 1_000;
/** Their batches are all merged. */
const ENDED = ['done', 'cancelled'] as const;

/**
 * Once an hour, deletes the stored rows of runs that ended a day ago: the run's files have them. What
 * is younger than a day stays, so that a pass that begins meanwhile loses nothing.
 */
export async function sweepSamples(
  deps: DispatchDeps,
  time: WorkTime,
  sweptAt: number,
): Promise<void> {
  const now = deps.clock.now();
  if (now - sweptAt < EVERY_MS) return;
  await deps.lease.swept('samples', now);
  for (const listed of await deps.runs.inStates(ENDED)) {
    if (!time.isLeft()) return;
    if (!isDue(listed, now)) continue;
    await guarded(deps, { run: listed.run_name }, () => sweepRun(deps, time, listed, now));
  }
}

async function sweepRun(
  deps: DispatchDeps,
  time: WorkTime,
  listed: RunRecord,
  now: number,
): Promise<void> {
  // The index may lag behind.
  const run = await deps.runs.read(listed.run_name);
  if (run === undefined || !isDue(run, now)) return;
  const { run_name: name, pass } = run;
  let deleted: number;
  do {
    if (!time.isLeft()) return;
    await time.hold();
    const of = { before: now - KEPT_MS, most: AT_ONCE };
    deleted = await deps.oldSamples.deleteSamples(name, of);
  } while (deleted === AT_ONCE);
  await deps.runs.samplesDeleted(name, pass);
  deps.log('samples_deleted', { run: name, pass });
}

function isDue(run: RunRecord, now: number): boolean {
  const isEnded = ENDED.some((state) => state === run.state);
  const isDone = (run.samples_deleted_pass ?? 0) >= run.pass;
  return isEnded && !isDone && now - Date.parse(run.updated_at) >= KEPT_MS;
}
