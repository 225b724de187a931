/** Primary keys of the table's items; see docs/cloud.md. */
export interface ItemKey {
  pk: string;
  sk: string;
}

export const runKey = (run: string): ItemKey => ({ pk: `RUN#${run}`, sk: 'RUN' });

export const batchKey = (run: string, batch: number): ItemKey => ({
  pk: `RUN#${run}#BATCH#${batch}`,
  sk: 'BATCH',
});

/** Padded, so that a query gives the attempts in order of position, then number. */
export const attemptKey = (
  run: string,
  batch: number,
  position: number,
  attempt: number,
): ItemKey => ({
  pk: `RUN#${run}#BATCH#${batch}`,
  sk: `ATTEMPT#${padded(position)}#${padded(attempt)}`,
});
export const ATTEMPT_PREFIX = 'ATTEMPT#';

export const promptKey = (run: string, hash: string, occurrence: number): ItemKey => ({
  pk: `RUN#${run}#PROMPT#${hash}`,
  sk: String(occurrence),
});

export const imageKey = (run: string, referenceSha256: string): ItemKey => ({
  pk: `RUN#${run}`,
  sk: `IMAGE#${referenceSha256}`,
});

export const taskDefinitionKey = (contentHash: string): ItemKey => ({
  pk: `TASKDEF#${contentHash}`,
  sk: 'TASKDEF',
});

export const DISPATCHER_KEY: ItemKey = { pk: 'FLEET', sk: 'DISPATCHER' };

/** A launch under way: `FLEET` / `LAUNCH#<token>`. */
export const launchKey = (token: string): ItemKey => ({ pk: 'FLEET', sk: `LAUNCH#${token}` });
export const LAUNCH_PREFIX = 'LAUNCH#';

/** Sparse index of batches that are open or unmerged: `live_pk` by `lease_until`. */
export const LIVE_INDEX = 'live';
const LIVE_SHARDS = 8;
export const livePk = (run: string, batch: number) => `RUN#${run}#${batch % LIVE_SHARDS}`;
export const livePks = (run: string) =>
  Array.from({ length: LIVE_SHARDS }, (_, shard) => `RUN#${run}#${shard}`);

/** Sparse index of runs: `runs_pk` by `started_at`. */
export const RUNS_INDEX = 'runs';
export const RUNS_PK = 'RUNS';

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
