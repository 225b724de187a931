/** A file of the run can't be read or written: which, why, and what can be done about it. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly path: string;
  /** The system's code, such as ENOSPC. */
  readonly code: string;

  constructor(path: string, code: string, cause: Error) {
    const [what, wayOut] = WORDS[code] ?? [cause.message, ''];
    super(`${path}: ${what} (${code})${wayOut === '' ? '' : `; ${wayOut}`}`, { cause });
    this.path = path;
    this.code = code;
  }
}

/** What happened, and the way out. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  ENOSPC: ['no space left on its disk', 'make room there'],
  EDQUOT: ["this user's share of its disk is used up", 'make room there'],
  EFBIG: ['too large a file for its disk or this process', 'raise that limit'],
  EROFS: ['its disk can only be read', 'make it writable or take another --output_dir'],
  EACCES: ['this user may not do that', 'mend the permissions'],
  EPERM: ['this user may not do that', 'mend the permissions'],
  EMFILE: ['too many files are open', 'raise `ulimit -n` or take fewer --num_workers'],
  ENFILE: ['too many files are open on this machine', 'end what holds them'],
  ENOENT: ['it is not there; was the run removed or renamed meanwhile?', 'put it back'],
  ENOTDIR: ['what should be a folder is a file', 'move that away'],
  EISDIR: ['what should be a file is a folder', 'move that away'],
};

/** Does `work` on the file at `path`; a failed system call is thrown as a `StorageError`. */
export async function storing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(path, error);
  }
}

/** The error of a system call as a `StorageError`; any other as it is. */
export function storageError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const isOfSystem = 'code' in error && 'syscall' in error && typeof error.code === 'string';
  return isOfSystem ? new StorageError(path, String(error.code), error) : error;
}
