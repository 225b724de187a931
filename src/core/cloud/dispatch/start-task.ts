import type { StartAnswer, StartRefusal } from '../../ports/fleet.ts';
import type { LaunchRecord } from '../launch-record.ts';
import { REFUSED } from '../stop-reason.ts';
import type { DispatchDeps } from './dispatch-deps.ts';
import { endLaunch } from './end-launch.ts';

/**
 * Starts the task of a launch that was claimed, and notes it; again for the same launch, it starts none
 * but that one. A refusal ends the launch. Resolves to `unknown` where nobody knows whether it was
 * started: the next round asks.
 */
export async function startTask(
  deps: DispatchDeps,
  launch: LaunchRecord,
): Promise<'started' | 'unknown' | StartRefusal> {
  let answer: StartAnswer;
  try {
    answer = await deps.fleet.start(launch);
  } catch (error) {
    deps.log('start_unknown', { ...nameOf(launch), error: String(error) });
    return 'unknown';
  }
  if ('arn' in answer) {
    await deps.launches.started(launch, answer.arn);
    deps.log('started', { ...nameOf(launch), task: answer.arn, spot: launch.spot });
    return 'started';
  }
  deps.log('start_refused', { ...nameOf(launch), ...answer });
  await endLaunch(deps, launch, {
    code: `${REFUSED}${answer.refused}`,
    reason: answer.words,
    containers: [],
  });
  return answer.refused;
}

export function nameOf(launch: LaunchRecord) {
  return { run: launch.run_name, batch: launch.batch, launch: launch.launch };
}
