import type { LockDeps } from '../../adapters/local/run-lock.ts';
import type { Wiring } from '../wiring.ts';

/** What this process takes a run's lock with. */
export async function lockDeps({ pid, host, processStarted }: Wiring): Promise<LockDeps> {
  const started = (await processStarted(pid)) ?? '';
  return { self: { pid, started, host }, processStarted };
}
