import type { Bucket } from '../../adapters/aws/bucket.ts';
import type { ListedObject } from '../../adapters/aws/list-objects.ts';
import { syncFolder } from '../../adapters/local/append-log.ts';
import type { RunFolder } from '../../adapters/local/run-folder.ts';
import { writeFileAtomically } from '../../adapters/local/write-file-atomically.ts';
import { runKeys } from '../../core/cloud/bucket-keys.ts';
import { type RunFile, runFileSchema } from '../../core/run/manifest.ts';
import { readRunFile } from '../local-run/open-run.ts';
import { UsageError } from '../usage-error.ts';
import { fetchObject, isFetched } from './fetch-object.ts';
import type { RunListing } from './run-listing.ts';

export interface Downloaded {
  files: number;
  bytes: number;
  /** Files that were here already. */
  skipped: number;
  /** Whether the bucket's results hold all batches that are merged. */
  isWhole: boolean;
}

export interface DownloadDeps {
  bucket: Bucket;
  /** Called once it is known how much is to be fetched; the result is told of each piece. */
  onStart(bytes: number): (count: number) => void;
}

const FILES_AT_ONCE = 8;
const LEDGERS_AT_ONCE = 16;

/**
 * Brings the listed files of a run into its folder, as a local run leaves them, so that `talaria
 * merge` works on it. Each file is replaced whole; called again, it fetches what is missing or has
 * changed.
 */
export async function downloadRun(
  listing: RunListing,
  folder: RunFolder,
  { bucket, onStart }: DownloadDeps,
): Promise<Downloaded> {
  const { atOnce } = await import('../../adapters/aws/at-once.ts');
  const wanted = await missing(folder, listing);
  const bytes = wanted.reduce((sum, { object }) => sum + object.size, 0);
  const onBytes = onStart(bytes);
  const fetchAll = (some: readonly Wanted[]) =>
    atOnce(some, FILES_AT_ONCE, ({ object, path }) => fetchObject(bucket, object, path, onBytes));
  // `run.json` last: before, there is no run here.
  const isManifest = ({ path }: Wanted) => path === folder.manifest;
  await fetchAll(wanted.filter((of) => !isManifest(of)));
  if (listing.wholeLedger === undefined) await writeLedger(folder, listing, bucket);
  await fetchAll(wanted.filter(isManifest));
  await syncFolder(folder.path);
  const all = listing.files.size + 1;
  const files = wanted.length + (listing.wholeLedger === undefined ? 1 : 0);
  return {
    files,
    bytes,
    skipped: all - files,
    isWhole: listing.wholeLedger !== undefined && isJoined(listing),
  };
}

/** Whether the kept rows of all batches are in the joined file: a merge may be under way. */
function isJoined({ files }: RunListing): boolean {
  let bytes = 0;
  for (const [name, { size }] of files) if (name.startsWith('batch_')) bytes += size;
  return files.get('trajectories.jsonl')?.size === bytes;
}

interface Wanted {
  object: ListedObject;
  path: string;
}

async function missing(folder: RunFolder, listing: RunListing): Promise<Wanted[]> {
  const all: Wanted[] = [...listing.files].map(([name, object]) => ({
    object,
    path: folder.file(name),
  }));
  if (listing.wholeLedger) all.push({ object: listing.wholeLedger, path: folder.ledger });
  const wanted: Wanted[] = [];
  for (const of of all) if (!(await isFetched(of.path, of.object))) wanted.push(of);
  return wanted;
}

async function writeLedger(folder: RunFolder, { ledgers }: RunListing, bucket: Bucket) {
  const { atOnce } = await import('../../adapters/aws/at-once.ts');
  const { objectBytes } = await import('../../adapters/aws/read-object.ts');
  const texts = await atOnce(ledgers, LEDGERS_AT_ONCE, async ({ key }) =>
    (await objectBytes(bucket, key)).toString('utf8'),
  );
  await writeFileAtomically(folder.ledger, texts.join(''));
}

/**
 * Throws `UsageError` where there is no such run in the bucket, or the folder holds another one of
 * that name.
 */
export async function refuseOtherRun(
  runName: string,
  folder: RunFolder,
  bucket: Bucket,
): Promise<void> {
  const { objectTextIfAny } = await import('../../adapters/aws/upload-object.ts');
  const text = await objectTextIfAny(bucket, runKeys(runName).manifest);
  if (text === undefined) {
    const refused = await objectTextIfAny(bucket, runKeys(runName).error);
    throw new UsageError(
      refused === undefined
        ? `there is no run ${runName} in ${bucket.name}: talaria status ${runName} says more`
        : `the run ${runName} has not begun, its dataset was refused: ${refused.trim()}`,
    );
  }
  const there = runFileSchema.parse(JSON.parse(text));
  const here = await readRunFile(folder);
  if (here === undefined || isEarlier(here, there)) return;
  throw new UsageError(
    `${folder.path} holds another run of that name, or passes of it that ${bucket.name} does not know: begun ${here.manifest.created_at} with ${here.passes.length} passes, against ${there.manifest.created_at} with ${there.passes.length}. Move it away, or take another --output_dir.`,
  );
}

/** Whether the run here is the one there, as it is or as it was. */
function isEarlier(here: RunFile, there: RunFile): boolean {
  return (
    here.manifest.created_at === there.manifest.created_at &&
    here.passes.every((pass, index) => pass.started_at === there.passes[index]?.started_at)
  );
}
