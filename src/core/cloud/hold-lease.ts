import { type BatchWork, LeaseLostError } from '../ports/batch-work.ts';
import type { Clock } from '../ports/clock.ts';
import type { CloudRunState } from './run-record.ts';

/** How long a launch has its batch after each renewal. */
export const LEASE_MS = 3 * 60_000;
export const RENEW_MS = 30_000;
/** After a renewal that had no answer. */
const AGAIN_MS = 5_000;

export interface HoldLeaseDeps {
  work: Pick<BatchWork, 'renew'>;
  clock: Clock;
  renewMs?: number;
  /** The run is no longer `running`; told at each renewal. */
  onRunState(state: CloudRunState): void;
  /** The batch is no longer this launch's, or nobody knows. */
  onLost(error: LeaseLostError): void;
}

/** Renews the lease until `signal` aborts or it is lost; of both, one call of `onLost` at most. */
export async function holdLease(deps: HoldLeaseDeps, signal: AbortSignal): Promise<void> {
  const { clock } = deps;
  const renewMs = deps.renewMs ?? RENEW_MS;
  // By the clock that never steps.
  let until = clock.monotonic() + LEASE_MS;
  let waitMs = renewMs;
  for (;;) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    const asked = clock.monotonic();
    const error = await renewed(deps, signal);
    if (error === undefined) until = asked + LEASE_MS;
    const lost = error && lostBy(error, until - clock.monotonic());
    if (lost !== undefined && !signal.aborted) return deps.onLost(lost);
    waitMs = error === undefined ? renewMs : Math.min(renewMs, AGAIN_MS);
  }
}

/** Resolves to the error of a renewal that failed. */
async function renewed(deps: HoldLeaseDeps, signal: AbortSignal): Promise<Error | undefined> {
  try {
    const { run } = await deps.work.renew();
    if (run !== 'running' && !signal.aborted) deps.onRunState(run);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function lostBy(error: Error, leftMs: number): LeaseLostError | undefined {
  if (error instanceof LeaseLostError) return error;
  if (leftMs > AGAIN_MS) return undefined;
  return new LeaseLostError(`the lease could not be renewed: ${error.message}`, { cause: error });
}
