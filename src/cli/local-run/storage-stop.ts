import { StorageError } from '../../adapters/local/storage-error.ts';

/** The error that ends a run, with the way on where a file could not be read or written. */
export function withWayOn(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  return new Error(
    `stopped: ${error.message}. Nothing that was stored is lost; mend that, then the same command with --resume goes on.`,
    { cause: error },
  );
}
