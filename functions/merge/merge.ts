import { z } from 'zod';
import { type MergeBatchDeps, mergeBatch } from '../../src/core/cloud/merge-batch.ts';
import { dueMerge } from '../../src/core/cloud/merge-claim.ts';
import { type MergeCloudRunDeps, mergeCloudRun } from '../../src/core/cloud/merge-cloud-run.ts';
import { type MadePart, type PartsJob, partsJobSchema } from '../../src/core/cloud/parts-job.ts';

export type MergeDeps = MergeBatchDeps &
  MergeCloudRunDeps & {
    /** Makes parts of an upload in this invocation. */
    makeParts(job: PartsJob): Promise<MadePart[]>;
    /** One structured line; errors with what they are about. */
    log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void;
  };

const text = z.object({ S: z.string() });

/** A closed batch as the table's stream has it. */
const closedBatchSchema = z.object({
  sk: z.object({ S: z.literal('BATCH') }),
  state: z.object({ S: z.literal('closed') }),
  run_name: text,
  batch: z.object({ N: z.string().regex(/^\d+$/).transform(Number) }),
});

const streamRecordSchema = z.object({
  dynamodb: z.object({ SequenceNumber: z.string(), NewImage: z.unknown() }),
});

const streamEventSchema = z.object({ Records: z.array(streamRecordSchema) });

const batchReferenceSchema = z.strictObject({ run: z.string().min(1), batch: z.int().min(0) });

/** What invokes the function. */
const eventSchema = z.union(
  [
    streamEventSchema,
    z.strictObject({ merge_batch: batchReferenceSchema }),
    z.strictObject({ merge_run: z.string().min(1) }),
    z.strictObject({ make_parts: partsJobSchema }),
  ],
  'expected records of the table, or one of merge_batch, merge_run, make_parts',
);

/** The records that are to be sent again. */
export interface StreamAnswer {
  batchItemFailures: { itemIdentifier: string }[];
}

/** Answers one event. Throws for one that it doesn't know, and what the merges of direct ones throw. */
export async function merge(event: unknown, deps: MergeDeps): Promise<unknown> {
  const parsed = eventSchema.parse(event);
  if ('Records' in parsed) return await mergeRecords(parsed.Records, deps);
  if ('make_parts' in parsed) return await deps.makeParts(parsed.make_parts);
  if ('merge_batch' in parsed) {
    const { run, batch } = parsed.merge_batch;
    return { merged: await mergeAndGoOn(run, batch, deps) };
  }
  const end = await mergeCloudRun(parsed.merge_run, deps);
  deps.log('info', 'run merged', { run: parsed.merge_run, end: end ?? 'not due' });
  return { end: end ?? null };
}

type StreamRecord = z.infer<typeof streamRecordSchema>;

/** Each record by itself: what one of them lacks holds up none of the others. */
async function mergeRecords(
  records: readonly StreamRecord[],
  deps: MergeDeps,
): Promise<StreamAnswer> {
  const failures: StreamAnswer['batchItemFailures'] = [];
  for (const { dynamodb } of records) {
    try {
      const image = closedBatchSchema.parse(dynamodb.NewImage);
      await mergeAndGoOn(image.run_name.S, image.batch.N, deps);
    } catch (error) {
      deps.log('error', 'a closed batch could not be merged', { error: String(error) });
      failures.push({ itemIdentifier: dynamodb.SequenceNumber });
    }
  }
  return { batchItemFailures: failures };
}

/** The run's files are another invocation's work: this one has other batches. */
async function mergeAndGoOn(run: string, batch: number, deps: MergeDeps): Promise<boolean> {
  const merged = await mergeBatch(run, batch, deps);
  if (!merged) return false;
  deps.log('info', 'batch merged', { run, batch });
  const record = await deps.progress.run(run);
  // Also of a paused run, whose last batches may be merged after its own merge.
  if (record !== undefined && dueMerge(record, deps.now()) !== undefined) {
    await deps.mergeLater(run);
  }
  return true;
}
