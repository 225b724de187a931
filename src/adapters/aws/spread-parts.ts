import {
  GROUP_LIMITS,
  type GroupLimits,
  groupParts,
  type MadePart,
  type PartsJob,
} from '../../core/cloud/parts-job.ts';
import { atOnce } from './at-once.ts';
import type { Bucket } from './bucket.ts';
import { makeParts } from './make-parts.ts';

const GROUPS_AT_ONCE = 50;

/**
 * Makes the parts of an upload: here where one group holds them all, else by invocations side by
 * side, each of which makes its group itself.
 */
export function createSpreadParts(
  bucket: Bucket,
  invoke: (job: PartsJob) => Promise<MadePart[]>,
  limits: GroupLimits = GROUP_LIMITS,
): (job: PartsJob) => Promise<MadePart[]> {
  return async (job) => {
    const groups = groupParts(job.parts, limits);
    if (groups.length <= 1) return await makeParts(bucket, job);
    const made = await atOnce(groups, GROUPS_AT_ONCE, (parts) => invoke({ ...job, parts }));
    return made.flat();
  };
}
