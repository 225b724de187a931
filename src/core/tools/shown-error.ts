import { SandboxFileError, type SandboxProcessError } from '../ports/sandbox.ts';

/** What to do about an error whose message says only what is wrong. */
const WAYS_OUT: Partial<Record<SandboxFileError['code'], string>> = {
  not_found: "find it by search_files with target 'files', or by terminal with ls",
  is_directory: 'give the path of a file, or use terminal for folders',
  not_a_file: 'use terminal, with a time limit, if you need it',
  permission: 'see by terminal with ls -l who may, use chmod if it is yours, or write elsewhere',
  invalid_pattern:
    'put a backslash before each of ( ) [ ] { } . * + ? ^ $ | that stands for itself',
};

/** An error of the sandbox as the model reads it: what is wrong, and the way out. */
export function shownError(error: SandboxFileError | SandboxProcessError): string {
  const wayOut = error instanceof SandboxFileError ? WAYS_OUT[error.code] : undefined;
  return wayOut === undefined ? error.message : `${error.message}; ${wayOut}`;
}
