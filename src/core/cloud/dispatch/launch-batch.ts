import type { ImageRecord } from '../attempt-record.ts';
import type { BatchRecord } from '../batch-record.ts';
import { startsOf } from '../launch-end.ts';
import { CLAIM_MS } from '../launch-next.ts';
import type { LaunchRecord } from '../launch-record.ts';
import { launchToken } from '../launch-token.ts';
import { retryWaitMs } from '../retry-wait.ts';
import type { RunRecord } from '../run-record.ts';
import { sandboxesFor } from '../task-size.ts';
import { closeBatch, imageOf } from './close-batch.ts';
import type { DispatchDeps } from './dispatch-deps.ts';
import { judgeRun } from './end-launch.ts';
import { guarded } from './guarded.ts';
import type { LaunchState } from './launch-state.ts';
import type { Definitions } from './prepare-definition.ts';
import { prepareImage } from './prepare-image.ts';
import { nameOf, startTask } from './start-task.ts';

/** RunTask calls under way; with the pause, under 20 a second. */
const STARTS_AT_ONCE = 4;
const START_PAUSE_MS = 55;

export interface Launcher {
  /** Asks for what is needed to launch these, side by side. */
  prepare(batches: readonly BatchRecord[]): Promise<void>;
  /**
   * Launches the batch of a message, or says that it waits, or ends it; the message is removed when that
   * is durable. Without a batch, the message is about nothing.
   */
  launch(batch: BatchRecord | undefined, handle: string): Promise<void>;
  /** When no call to start a task is under way any more. */
  settled(): Promise<void>;
}

export function createLauncher(
  deps: DispatchDeps,
  state: LaunchState,
  definitions: Definitions,
): Launcher {
  const { clock, settings } = deps;
  const starts = new Set<Promise<void>>();

  /** A run that isn't in the list may have begun a moment ago. */
  async function runOf(batch: BatchRecord): Promise<RunRecord | undefined> {
    const known = state.runs.get(batch.run_name);
    if (known !== undefined) return known;
    const run = await deps.runs.read(batch.run_name);
    if (run?.state === 'running') state.runs.set(run.run_name, run);
    return run;
  }

  async function waits(batch: BatchRecord, until: number, unclaimed = batch.unclaimed) {
    await deps.batches.wait(batch, until, unclaimed);
  }

  /** It waits, longer each time; a run of which nothing can be launched pauses in the end. */
  async function fails(batch: BatchRecord, words: string): Promise<void> {
    const unclaimed = batch.unclaimed + 1;
    await waits(batch, clock.now() + retryWaitMs(unclaimed), unclaimed);
    await deps.runs.countStop(batch.run_name);
    await judgeRun(deps, batch.run_name, words);
  }

  /** The image to start, or undefined: the batch waits then, or has ended. */
  async function imageFor(batch: BatchRecord, run: RunRecord): Promise<ImageRecord | undefined> {
    const reference = imageOf(deps, run, batch);
    const image = await prepareImage(deps, run, reference);
    if (image?.problem === '') return image;
    if (image === undefined) {
      await fails(batch, `the registry of ${reference} gives no answer`);
    } else {
      const { problem } = image;
      const reason = problem.startsWith(`${reference}: `) ? problem : `${reference}: ${problem}`;
      const end = { outcome: 'failed/image_unavailable' as const, reason };
      await closeBatch(deps, { run, batch }, end);
    }
    return undefined;
  }

  /** Whether a start is under way, which removes the message. */
  async function launchQueued(batch: BatchRecord, run: RunRecord, handle: string) {
    const image = await imageFor(batch, run);
    if (image === undefined) return false;
    const launch = await describe(batch, image);
    const until = launch.launched_at + CLAIM_MS;
    const refusal = await deps.launches.claim(launch, { until, maxTasks: settings.maxTasks });
    if (refusal === undefined) {
      count(run, 1);
      await begin(launch, run, handle);
      return true;
    }
    if (refusal !== 'batch') await waits(batch, clock.now());
    // What was read has changed: nothing more is free there, as far as this invocation knows.
    if (refusal === 'fleet') state.active = settings.maxTasks;
    if (refusal === 'run') state.runs.delete(run.run_name);
    return false;
  }

  async function launchOrWait(batch: BatchRecord, handle: string): Promise<boolean> {
    const run = await runOf(batch);
    if (run !== undefined && mayLaunch(run) && !state.isRefused) {
      try {
        return await launchQueued(batch, run, handle);
      } catch (error) {
        // One batch that can't be launched holds up none of the others.
        const words = String(error).slice(0, 500);
        deps.log('launch_failed', { run: batch.run_name, batch: batch.batch, words }, 'error');
        await fails(batch, words);
        return false;
      }
    }
    await waits(batch, clock.now());
    return false;
  }

  async function describe(batch: BatchRecord, image: ImageRecord): Promise<LaunchRecord> {
    const number = batch.launch + 1;
    const of = { run: batch.run_name, batch: batch.batch, launch: number };
    const token = launchToken(deps.sha256, of);
    const sandboxes = sandboxesFor(batch.remaining);
    return {
      token,
      run_name: batch.run_name,
      batch: batch.batch,
      launch: number,
      image: image.reference,
      task_definition: await definitions.arnFor(image, sandboxes, token),
      sandboxes,
      // On demand after a launch that nobody came up for.
      spot: settings.spot && batch.unclaimed === 0,
      remaining: batch.remaining,
      starts: startsOf(batch),
      task_arn: '',
      launched_at: clock.now(),
      is_claimed: false,
      stop: null,
    };
  }

  /** Calls are made side by side, at a pace. */
  async function begin(launch: LaunchRecord, run: RunRecord, handle: string): Promise<void> {
    while (starts.size >= STARTS_AT_ONCE) await Promise.race(starts);
    const start = guarded(deps, nameOf(launch), () => startOf(launch, run, handle));
    starts.add(start);
    void start.then(() => starts.delete(start));
    await clock.sleep(START_PAUSE_MS);
  }

  async function startOf(launch: LaunchRecord, run: RunRecord, handle: string): Promise<void> {
    const became = await startTask(deps, launch);
    if (became !== 'started' && became !== 'unknown') {
      count(run, -1);
      if (became === 'definition') await definitions.forget(launch.task_definition);
      // Without Spot there may still be room.
      else if (became !== 'other' && !launch.spot) state.isRefused = true;
    }
    await deps.inbox.remove(handle);
  }

  function count(run: RunRecord, by: number): void {
    run.active += by;
    state.active += by;
  }

  return {
    async prepare(batches) {
      const wanted = new Map<string, { run: RunRecord; reference: string }>();
      for (const batch of batches) {
        const run = await runOf(batch);
        if (batch.state !== 'queued' || run === undefined || !mayLaunch(run)) continue;
        const reference = imageOf(deps, run, batch);
        wanted.set(`${run.run_name} ${reference}`, { run, reference });
      }
      // What fails here fails again at its own batch.
      await Promise.allSettled(
        [...wanted.values()].map(({ run, reference }) => prepareImage(deps, run, reference)),
      );
    },
    async launch(batch, handle) {
      const isStarting = batch?.state === 'queued' && (await launchOrWait(batch, handle));
      if (!isStarting) await deps.inbox.remove(handle);
    },
    async settled() {
      await Promise.all(starts);
    },
  };
}

function mayLaunch(run: RunRecord): boolean {
  return run.state === 'running' && run.active < run.num_workers;
}
