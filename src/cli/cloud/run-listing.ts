import type { Bucket } from '../../adapters/aws/bucket.ts';
import type { ListedObject } from '../../adapters/aws/list-objects.ts';
import { runKeys } from '../../core/cloud/bucket-keys.ts';

/** The objects of a run that its folder has too, by the names that they have there. */
export interface RunListing {
  /** Not `ledger.jsonl`, which the batches' ledgers make. */
  files: Map<string, ListedObject>;
  /** Ledgers of the merged batches, by their number. */
  ledgers: ListedObject[];
  /** The joined ledger, where it holds all of them. */
  wholeLedger: ListedObject | undefined;
}

/** No other name of the bucket leads to a path here, and no secret or sample does. */
const FILES =
  /^(?:run|statistics|checkpoint|error)\.json$|^README\.md$|^(?:trajectories|discarded|failed)\.jsonl$|^passes\/\d+\/input\.jsonl$/;
const BATCH_FILE = /^(?:batch|discarded|failed)_(\d+)\.jsonl$/;

/**
 * Lists a run. Of batches only those that are in the ledger by then: a batch's files are there
 * before its ledger is, so that rows and ledger fit each other also while the run goes on.
 */
export async function listRun(bucket: Bucket, runName: string): Promise<RunListing> {
  const { listNumbered, listObjects } = await import('../../adapters/aws/list-objects.ts');
  const root = runKeys(runName).file('');
  const ledgers = await listNumbered(bucket, `${root}ledger/`);
  const all = new Map<string, ListedObject>();
  const add = (object: ListedObject) => all.set(object.key.slice(root.length), object);
  for await (const object of listObjects(bucket, root, { level: true })) add(object);
  for await (const object of listObjects(bucket, `${root}passes/`)) add(object);

  const files = new Map([...all].filter(([name]) => isWanted(name, ledgers)));
  const bytes = [...ledgers.values()].reduce((sum, { size }) => sum + size, 0);
  const whole = all.get('ledger.jsonl');
  // It only ever grows, by whole ledgers of batches.
  const wholeLedger = whole?.size === bytes ? whole : undefined;
  return { files, ledgers: [...ledgers.values()], wholeLedger };
}

function isWanted(name: string, ledgers: ReadonlyMap<number, unknown>): boolean {
  const [, batch] = BATCH_FILE.exec(name) ?? [];
  return batch === undefined ? FILES.test(name) : ledgers.has(Number(batch));
}
