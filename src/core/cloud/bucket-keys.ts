import type { BatchKind } from '../run/batch-kind.ts';

/** Keys of one run's objects in the bucket. Positions are places within a batch, from 0. */
export function runKeys(runName: string) {
  const root = `runs/${runName}`;
  return {
    /** `statistics.json`, `trajectories.jsonl` and the like. */
    file: (name: string) => `${root}/${name}`,
    manifest: `${root}/run.json`,
    /** Ephemeral prompt and prefill: read by the worker's role only. */
    privateFile: `${root}/private.json`,
    error: `${root}/error.json`,
    input: (pass: number) => `${root}/passes/${pass}/input.jsonl`,
    sample: (batch: number, position: number, launch: number) =>
      `${root}/samples/${batch}/${position}-${launch}.json`,
    allSamples: `${root}/samples/`,
    samples: (batch: number) => `${root}/samples/${batch}/`,
    batch: (kind: BatchKind, batch: number) => `${root}/${kind}_${batch}.jsonl`,
    /** The batch's ledger entries: the run's ledger is these by number. */
    batchLedger: (batch: number) => `${root}/ledger/${batch}.jsonl`,
  };
}

const UPLOAD = /^datasets\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})\/([^/]+\.jsonl(?:\.gz)?)$/;

/** What an uploaded key starts; undefined for one that starts nothing. */
export function uploadedDataset(key: string): { runName: string; file: string } | undefined {
  const [, runName, file] = UPLOAD.exec(key) ?? [];
  return runName === undefined || file === undefined ? undefined : { runName, file };
}

/** Keys that go beside an uploaded dataset, and before it. */
export function uploadKeys(runName: string) {
  const root = `datasets/${runName}`;
  return {
    dataset: (file: string) => `${root}/${file}`,
    config: `${root}/run.json`,
    privateFile: `${root}/private.json`,
  };
}
