import {
  type LaunchEnd,
  launchEnd,
  MOST_FAILED_STARTS,
  MOST_UNCLAIMED_STOPS,
} from '../launch-end.ts';
import type { LaunchRecord, TaskStop } from '../launch-record.ts';
import { wordsOfStop } from '../stop-reason.ts';
import type { DispatchDeps } from './dispatch-deps.ts';

const TRIES = 5;

/**
 * Ends a launch whose task has stopped, or never was: the batch waits again where it isn't in order,
 * and what is to blame is counted. Again, it changes nothing.
 */
export async function endLaunch(
  deps: DispatchDeps,
  launch: LaunchRecord,
  stop: TaskStop,
): Promise<void> {
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const { became, end } = await tryToEnd(deps, launch, stop);
    if (became === 'gone') return;
    if (became === 'ended') return await judge(deps, launch, end, stop);
  }
  throw new Error(`batch ${launch.batch} of run ${launch.run_name} changes all the time`);
}

async function tryToEnd(deps: DispatchDeps, launch: LaunchRecord, stop: TaskStop) {
  const { run_name: run, batch: number } = launch;
  const [batch] = await deps.batches.read([{ run, batch: number }]);
  const active = (await deps.runs.read(run))?.active ?? 0;
  const at = { now: deps.clock.now(), hasOthers: active > 1 };
  const end = launchEnd(launch, batch, stop, at);
  return { end, became: await deps.launches.end(launch, end, batch) };
}

async function judge(deps: DispatchDeps, launch: LaunchRecord, end: LaunchEnd, stop: TaskStop) {
  const { run_name: run, batch, launch: number, image } = launch;
  const words = wordsOfStop(stop);
  deps.log('launch_ended', { run, batch, launch: number, words, end });
  if (end.image === 'raise') await judgeImage(deps, run, image, words);
  if (end.run === 'raise') await judgeRun(deps, run, words);
}

async function judgeImage(deps: DispatchDeps, run: string, reference: string, words: string) {
  const image = await deps.runs.image(run, reference);
  if (image === undefined || image.failed_starts < MOST_FAILED_STARTS) return;
  const problem = `${image.failed_starts} tasks of it in a row did not start: ${words}`;
  const pass = (await deps.runs.read(run))?.pass ?? image.pass;
  await deps.runs.giveUpImage(run, reference, { problem, pass });
}

/** Pauses a run in which too many tasks in a row ended before any began. */
export async function judgeRun(deps: DispatchDeps, name: string, words: string) {
  const run = await deps.runs.read(name);
  if (run === undefined || run.stops_unclaimed < MOST_UNCLAIMED_STOPS) return;
  const reason = `${run.stops_unclaimed} tasks in a row ended before they began: ${words}`;
  await deps.runs.move(name, { from: 'running', to: 'pausing', reason, now: deps.clock.now() });
}
