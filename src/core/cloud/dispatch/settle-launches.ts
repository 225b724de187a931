import type { BatchRecord } from '../batch-record.ts';
import { CLAIM_MS, type LaunchTask, nextOfLaunch } from '../launch-next.ts';
import type { LaunchRecord, TaskStop } from '../launch-record.ts';
import { OUR_STOP } from '../stop-reason.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { endLaunch } from './end-launch.ts';
import { guarded } from './guarded.ts';
import { nameOf, startTask } from './start-task.ts';

/**
 * Goes through the launches under way: those whose task an event says has stopped, those without a
 * task, left by a dispatcher that died, and with `isSweep` all others, by asking ECS.
 */
export async function settleLaunches(
  deps: DispatchDeps,
  time: WorkTime,
  isSweep: boolean,
): Promise<void> {
  const launches = await deps.launches.list();
  for (const launch of launches.filter(({ stop }) => stop !== null)) {
    if (!time.isLeft()) return;
    await time.hold();
    const { stop } = launch;
    if (stop !== null) await guarded(deps, nameOf(launch), () => endLaunch(deps, launch, stop));
  }
  const others = launches.filter(({ stop }) => stop === null);
  for (const launch of others.filter(({ task_arn: arn }) => arn === '')) {
    if (!time.isLeft()) return;
    await time.hold();
    await guarded(deps, nameOf(launch), () => recover(deps, launch));
  }
  if (isSweep) {
    await look(
      deps,
      time,
      others.filter(({ task_arn: arn }) => arn !== ''),
    );
  }
}

/** Its RunTask was never called, or its answer was lost. */
async function recover(deps: DispatchDeps, launch: LaunchRecord): Promise<void> {
  const arn = await deps.fleet.find(launch.token);
  if (arn !== undefined) {
    await deps.launches.started(launch, arn);
    return;
  }
  if (deps.clock.now() - launch.launched_at > CLAIM_MS) {
    await endLaunch(deps, launch, noStop('no task was started in time'));
    return;
  }
  const run = await deps.runs.read(launch.run_name);
  if (run?.state === 'running') await startTask(deps, launch);
  else await endLaunch(deps, launch, noStop(`${OUR_STOP}the run stopped before its task started`));
}

async function look(
  deps: DispatchDeps,
  time: WorkTime,
  launches: readonly LaunchRecord[],
): Promise<void> {
  const views = await deps.fleet.describe(launches.map(({ task_arn: arn }) => arn));
  const tasks = new Map(views.map((view) => [view.arn, view]));
  const batches = await deps.batches.read(
    launches.map(({ run_name: run, batch }) => ({ run, batch })),
  );
  const byName = new Map(batches.map((batch) => [keyOf(batch.run_name, batch.batch), batch]));
  for (const launch of launches) {
    if (!time.isLeft()) return;
    await time.hold();
    const task = tasks.get(launch.task_arn);
    if (task === undefined) continue;
    const batch = byName.get(keyOf(launch.run_name, launch.batch));
    await guarded(deps, nameOf(launch), () => act(deps, launch, task, batch));
  }
}

async function act(
  deps: DispatchDeps,
  launch: LaunchRecord,
  task: LaunchTask,
  batch: BatchRecord | undefined,
): Promise<void> {
  const next = nextOfLaunch(launch, batch, task, deps.clock.now());
  switch (next.do) {
    case 'end':
      return await endLaunch(deps, launch, next.stop);
    case 'stop':
      return await deps.fleet.stop(launch.task_arn, next.reason);
    case 'note_claim':
      return await deps.launches.claimed(launch);
    case 'nothing':
      return;
  }
}

function noStop(reason: string): TaskStop {
  return { code: '', reason, containers: [] };
}

function keyOf(run: string, batch: number): string {
  return `${run}/${batch}`;
}
