import { statfsSync } from 'node:fs';
import { SandboxLostError } from '../../core/ports/sandbox.ts';

/** Less than this is a full disk, in bytes. */
const LEAST_ROOM = 1024 * 1024;
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Does `work` of a sandbox and gives its result, unless a disk is full by then: what commands say
 * of that is the host's fault and no sample. Then throws `SandboxLostError`.
 */
export async function withRoom<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    assertRoom(folders);
    const { cause } = error as Error;
    if (cause instanceof Error && 'code' in cause && NO_ROOM.has(cause.code)) {
      throw new SandboxLostError(`no room for a file: ${cause.message}`, { cause: error });
    }
    throw error;
  }
  assertRoom(folders);
  return result;
}

/** Throws `SandboxLostError` where the disk of one of the folders is full. */
export function assertRoom(folders: readonly string[]): void {
  for (const folder of folders) {
    // Synchronous: it costs some microseconds, its way through the thread pool many more.
    const { bavail, bfree, bsize, ffree, files } = statfsSync(folder);
    const free = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
    if (free >= LEAST_ROOM && (files === 0 || ffree > 0)) continue;
    throw new SandboxLostError(
      `no space left for sandboxes on the disk of ${folder}: make room there, or name another folder in TMPDIR`,
    );
  }
}
