import { ImageGoneError, RegistryBusyError } from '../../ports/image-registry.ts';
import type { ImageRecord } from '../attempt-record.ts';
import type { RunRecord } from '../run-record.ts';
import type { Architecture } from '../task-definition.ts';
import { isTooLarge } from '../task-size.ts';
import type { DispatchDeps } from './dispatch-deps.ts';

/** The best first. */
const ARCHITECTURES: readonly Architecture[] = ['amd64', 'arm64'];
const GIB = 1024 ** 3;

/**
 * What a run knows of an image, asked of its registry once a run, and once more by a later pass where
 * there was a `problem`: it means that the image can't be had for good. Undefined where the registry gave
 * no answer to go by.
 */
export async function prepareImage(
  deps: DispatchDeps,
  { run_name: run, pass }: Pick<RunRecord, 'run_name' | 'pass'>,
  reference: string,
): Promise<ImageRecord | undefined> {
  const known = await deps.runs.image(run, reference);
  if (known !== undefined && (known.problem === '' || known.pass >= pass)) return known;
  // What it was pinned to, it stays in every pass.
  const pinned = known !== undefined && known.pinned !== '';
  const image = pinned ? { ...known, problem: '', failed_starts: 0 } : await ask(deps, reference);
  return image && (await deps.runs.keepImage(run, { ...image, pass }, known));
}

async function ask(
  deps: DispatchDeps,
  reference: string,
): Promise<Omit<ImageRecord, 'pass'> | undefined> {
  const { workerImages } = deps.settings.task;
  const runnable = ARCHITECTURES.filter((of) => workerImages[of] !== undefined);
  const nothing = { reference, pinned: '', architecture: 'amd64' as const, size_bytes: 0 };
  try {
    const image = await deps.registry.resolve(reference, runnable);
    const { pinned, architecture, sizeBytes } = image;
    const size = `${(sizeBytes / GIB).toFixed(1)} GiB`;
    const problem = isTooLarge(sizeBytes) ? `its layers are ${size}: no task can hold it` : '';
    return { reference, pinned, architecture, size_bytes: sizeBytes, failed_starts: 0, problem };
  } catch (error) {
    if (error instanceof ImageGoneError) {
      return { ...nothing, failed_starts: 0, problem: error.message };
    }
    if (!(error instanceof RegistryBusyError)) throw error;
    deps.log('registry_busy', { reference, words: error.message });
    return undefined;
  }
}
