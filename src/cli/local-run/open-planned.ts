import { type LockDeps, RunLockedError } from '../../adapters/local/run-lock.ts';
import { type OpenRun, openRun } from './open-run.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Opens the run that was planned, see `openRun`. A plan is made without the lock, so another
 * process may have begun or resumed the run since: then throws `RunLockedError`.
 */
export async function openPlanned(
  { config, folder, stored }: RunPlan,
  lock: LockDeps,
): Promise<OpenRun> {
  const open = await openRun(folder, lock);
  if (JSON.stringify(open.run) === JSON.stringify(stored)) return open;
  await open.close();
  throw new RunLockedError(
    stored === undefined
      ? `another process has begun the run ${config.run_name} meanwhile, in ${folder.path}: --resume goes on with it, another --run_name begins a new one`
      : `another process has resumed the run ${config.run_name} meanwhile; call again`,
  );
}
