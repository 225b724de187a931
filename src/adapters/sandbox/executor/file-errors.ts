import { getSystemErrorMap } from 'node:util';
import { SandboxFileError, SandboxLostError } from '../../../core/ports/sandbox.ts';

/** What a failed system call on `path` (as the caller wrote it) means for the caller. */
export function fileError(error: unknown, path: string): SandboxFileError | SandboxLostError {
  if (error instanceof SandboxFileError || error instanceof SandboxLostError) return error;
  const options = { cause: error };
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new SandboxFileError(`${path}: no such file or folder`, 'not_found', options);
    // Only links that lead nowhere or in a circle are left unresolved when a file is opened.
    case 'ELOOP':
      return new SandboxFileError(
        `${path}: a symbolic link that leads nowhere`,
        'not_found',
        options,
      );
    case 'EISDIR':
      return new SandboxFileError(`${path}: is a folder`, 'is_directory', options);
    case 'EACCES':
    case 'EPERM':
      return new SandboxFileError(`${path}: permission denied`, 'permission', options);
    // These are the host's, and another attempt may meet better times.
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return new SandboxLostError(`file handles or memory ran out: ${String(error)}`, options);
    default:
      return new SandboxFileError(`${path}: ${systemWords(error)}`, 'io', options);
  }
}

/** A search pattern that does not compile. */
export function invalidPattern(expected: string, got: string, cause: unknown): SandboxFileError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SandboxFileError(
    `expected ${expected}, got ${JSON.stringify(got.slice(0, 200))}: ${reason}`,
    'invalid_pattern',
    { cause },
  );
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The system's own words, without the host's paths that Node puts into its messages. */
function systemWords(error: unknown): string {
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    const known = getSystemErrorMap().get(error.errno);
    if (known !== undefined) return `${known[1]} (${known[0]})`;
  }
  return error instanceof Error ? error.message : String(error);
}
