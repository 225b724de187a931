import type { BatchRecord } from '../batch-record.ts';
import type { RunRecord } from '../run-record.ts';
import { runSweep } from '../run-sweep.ts';
import { closeOpenBatches } from './close-open-batches.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { guarded } from './guarded.ts';

/** Of each run, at once. */
const MOST_DUE = 200;
const WATCHED = ['planning', 'running', 'pausing', 'paused', 'cancelling', 'merging'] as const;

/** Does for every run what its own events should have done by now, and moves those that stop. */
export async function sweepRuns(deps: DispatchDeps, time: WorkTime): Promise<void> {
  const launched = new Set(
    (await deps.launches.list()).map(({ run_name: run, batch }) => `${run}/${batch}`),
  );
  for (const listed of await deps.runs.inStates(WATCHED)) {
    if (!time.isLeft()) return;
    await time.hold();
    // The index may lag behind.
    const run = await deps.runs.read(listed.run_name);
    if (run === undefined) continue;
    const about = { run: run.run_name };
    if (runSweep(run, deps.clock.now()) === 'close_open_batches') {
      await closeOpenBatches(deps, time, run);
    } else await guarded(deps, about, () => sweepRun(deps, run));
    if (run.state !== 'planning') {
      await guarded(deps, about, () => sweepBatches(deps, run, launched));
    }
  }
}

async function sweepRun(deps: DispatchDeps, run: RunRecord): Promise<void> {
  const { functions, runs, clock } = deps;
  const name = run.run_name;
  const step = runSweep(run, clock.now());
  if (step !== 'nothing') deps.log('sweep', { run: name, step });
  switch (step) {
    case 'resume_planning':
      return await functions.resumePlanning(name);
    case 'merge_run':
      return await functions.mergeRun(name);
    case 'end_pausing':
      // Over what is merged so far.
      if (await runs.move(name, { from: 'pausing', to: 'paused', now: clock.now() })) {
        await functions.mergeRun(name);
      }
      return;
    case 'close_open_batches':
    case 'nothing':
      return;
  }
}

async function sweepBatches(
  deps: DispatchDeps,
  run: RunRecord,
  launched: ReadonlySet<string>,
): Promise<void> {
  const now = deps.clock.now();
  for (const batch of await deps.batches.due(run.run_name, now, MOST_DUE)) {
    if (batch.state === 'closed') await mergeAgain(deps, batch, now);
    // A launch that has ended without telling its batch: there is no task.
    else if (isLaunched(batch) && !launched.has(`${run.run_name}/${batch.batch}`)) {
      deps.log('batch_left_behind', { run: run.run_name, batch: batch.batch });
      await deps.batches.wait(batch, now, batch.unclaimed);
    }
  }
}

async function mergeAgain(deps: DispatchDeps, batch: BatchRecord, now: number): Promise<void> {
  const { unmergedMs } = deps.settings;
  if (now - batch.closed_at < unmergedMs) return;
  await deps.batches.lookAgain(batch, now + unmergedMs);
  await deps.functions.mergeBatch(batch.run_name, batch.batch);
}

function isLaunched({ state }: BatchRecord): boolean {
  return state === 'launching' || state === 'running';
}
