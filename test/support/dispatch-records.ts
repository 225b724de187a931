import { type BatchRecord, queuedUntil } from '../../src/core/cloud/batch-record.ts';
import type { RunRecord } from '../../src/core/cloud/run-record.ts';

/** When the tests' clock begins. */
export const BEGINNING = Date.UTC(2026, 0, 1);

/** A run as the starter leaves it. */
export function runRecord(name: string, of: Partial<RunRecord> = {}): RunRecord {
  return {
    run_name: name,
    state: 'running',
    reason: '',
    pass: 1,
    dataset: {
      key: `datasets/${name}/prompts.jsonl`,
      version_id: 'v1',
      sequencer: '1',
      config_version_id: '',
    },
    next_dataset: null,
    sequencers: {},
    planner: null,
    num_workers: 4,
    max_attempts: 3,
    model: 'rehearsal',
    default_image: '',
    batches_total: 10,
    batches_merged: 0,
    active: 0,
    stops_unclaimed: 0,
    merge_lease_until: 0,
    started_at: new Date(BEGINNING).toISOString(),
    updated_at: new Date(BEGINNING).toISOString(),
    ...of,
  };
}

/** A queued batch of `prompts` prompts. */
export function batchRecord(
  run: string,
  batch: number,
  { prompts = 2, ...of }: Partial<Omit<BatchRecord, 'prompts'>> & { prompts?: number } = {},
): BatchRecord {
  return {
    run_name: run,
    batch,
    pass: 1,
    state: 'queued',
    image: '',
    prompts: Array.from({ length: prompts }, (_, position) => ({
      index: batch * 8 + position,
      sample: 0,
      hash: (batch * 8 + position).toString(16).padStart(64, '0'),
      occurrence: 0,
      offset: position * 100,
      length: 100,
      attempts_before: 0,
    })),
    remaining: prompts,
    unfinished: 0,
    launch: 0,
    lease_until: queuedUntil(BEGINNING),
    task_arn: '',
    spot: false,
    unclaimed: 0,
    starts: {},
    careful: false,
    queued_at: BEGINNING,
    closed_at: 0,
    ...of,
  };
}
