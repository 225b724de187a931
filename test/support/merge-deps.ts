import type { MergeDeps } from '../../functions/merge/merge.ts';
import { createBucketBatchObjects } from '../../src/adapters/aws/bucket-batch-objects.ts';
import { bucketInputRows } from '../../src/adapters/aws/bucket-input-rows.ts';
import { openBucketLedger } from '../../src/adapters/aws/bucket-ledger.ts';
import { createBucketRunFiles } from '../../src/adapters/aws/bucket-run-files.ts';
import { makeParts } from '../../src/adapters/aws/make-parts.ts';
import { createMergeProgress } from '../../src/adapters/aws/merge-progress.ts';
import type { PartsJob } from '../../src/core/cloud/parts-job.ts';
import type { CloudResources } from './cloud-resources.ts';
import { sha256Hex } from './played-run.ts';

export interface PlayedMerge {
  deps: MergeDeps;
  /** What it asked of other invocations, in order. */
  asked: string[];
  logged: { level: string; message: string }[];
}

/** The merge as its handler wires it, but that other invocations are noted and not made. */
export function mergeDeps(
  { table, bucket }: Pick<CloudResources, 'table' | 'bucket'>,
  now = () => Date.now(),
): PlayedMerge {
  const asked: string[] = [];
  const logged: PlayedMerge['logged'] = [];
  const parts = (job: PartsJob) => makeParts(bucket, job);
  const join = { bucket, makeParts: parts };
  const objects = createBucketBatchObjects(bucket);
  const deps: MergeDeps = {
    progress: createMergeProgress(table),
    objects,
    text: objects.text,
    now,
    sha256Hex,
    openLedger: (runName) => openBucketLedger(runName, join),
    runFiles: (runName) => createBucketRunFiles(runName, join),
    inputRows: (key) => bucketInputRows(bucket, key),
    mergeLater: async (runName) => void asked.push(`merge_run ${runName}`),
    resumePlanning: async (runName) => void asked.push(`resume_planning ${runName}`),
    makeParts: parts,
    log: (level, message) => void logged.push({ level, message }),
  };
  return { deps, asked, logged };
}
