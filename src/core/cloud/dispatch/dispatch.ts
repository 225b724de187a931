import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { launchBatches } from './launch-batches.ts';
import { settleLaunches } from './settle-launches.ts';
import { sweepDefinitions } from './sweep-definitions.ts';
import { sweepRuns } from './sweep-runs.ts';
import { sweepSamples } from './sweep-samples.ts';

/** How long a dispatcher that says nothing more is believed to be at work. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;

/** Another dispatcher works: this one may write nothing more. */
export class DispatcherReplacedError extends Error {
  override readonly name = 'DispatcherReplacedError';
}

/**
 * Starts what may start, ends what has ended, sweeps what is left: for about `budgetMs`, as the only
 * one. Resolves to whether it was, or another one is at work and was told to look again. What is not
 * done in time is done by the next call.
 */
export async function dispatch(deps: DispatchDeps, budgetMs: number): Promise<'done' | 'busy'> {
  const { lease, clock } = deps;
  const owner = deps.newId();
  if (!(await lease.acquire(owner, clock.now(), clock.now() + LEASE_MS))) return 'busy';
  const time = workTime(deps, owner, budgetMs);
  try {
    do {
      await round(deps, time);
    } while (!(await lease.release(owner)) && time.isLeft());
  } finally {
    await lease.abandon(owner);
  }
  return 'done';
}

async function round(deps: DispatchDeps, time: WorkTime): Promise<void> {
  const { lease, clock, settings } = deps;
  for (;;) {
    const fleet = await lease.read();
    const isSweep = clock.now() - fleet.swept_at >= settings.sweepEveryMs;
    if (isSweep) await lease.swept('runs', clock.now());
    await settleLaunches(deps, time, isSweep);
    if (isSweep) await sweepRuns(deps, time);
    await launchBatches(deps, time);
    if (isSweep) await sweepDefinitions(deps, time, fleet.definitions_swept_at);
    if (isSweep) await sweepSamples(deps, time, fleet.samples_swept_at);
    const { lingerMs } = settings;
    if (lingerMs === undefined || !time.isLeft() || (await lease.read()).active === 0) return;
    await clock.sleep(lingerMs);
    await time.hold();
  }
}

function workTime({ lease, clock }: DispatchDeps, owner: string, budgetMs: number): WorkTime {
  const began = clock.monotonic();
  let renewed = began;
  return {
    isLeft: () => clock.monotonic() - began < budgetMs,
    async hold() {
      if (clock.monotonic() - renewed < RENEW_MS) return;
      if (!(await lease.renew(owner, clock.now() + LEASE_MS))) {
        throw new DispatcherReplacedError('the lease of the dispatcher is another one’s');
      }
      renewed = clock.monotonic();
    },
  };
}
