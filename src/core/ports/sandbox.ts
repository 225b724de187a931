/** What a prompt needs of its sandbox. */
export interface SandboxSpec {
  promptId: string;
  /** Image reference, or "" for the run's default. */
  image: string;
  /** Folder to start in, or "" for the sandbox's own; made if missing. */
  cwd: string;
}

export interface SandboxProvider {
  /** A fresh sandbox. Throws `SandboxLostError` or `ImageUnavailableError`. */
  open(spec: SandboxSpec): Promise<Sandbox>;
}

export interface CommandRequest {
  /** Shell source text. */
  command: string;
  timeoutMs: number;
  /** Folder for this command only, relative to the current one or absolute. */
  workdir?: string;
  /** How many bytes of output to keep from its beginning and from its end. */
  keep: { headBytes: number; tailBytes: number };
  /** Kills the command's process group; the result then has `stopped: 'aborted'`. */
  signal?: AbortSignal;
}

/** Standard output and error as one stream, the middle cut out where it was too long. */
export interface CommandResult {
  head: Uint8Array;
  /** Empty unless something was cut. */
  tail: Uint8Array;
  omittedBytes: number;
  /** The shell's exit code; 128 + n after signal n. */
  exitCode: number;
  /** Why the sandbox ended the command, if it did. */
  stopped: 'no' | 'timeout' | 'aborted';
}

export interface FileContent {
  bytes: Uint8Array;
  /** Size of the whole file, of which `bytes` is the first part. */
  size: number;
}

export interface SearchRequest {
  /** RE2 syntax for content, a glob for files. */
  pattern: string;
  target: 'content' | 'files';
  path: string;
  /** Only files whose name matches this glob. */
  fileGlob?: string;
  /** Lines before and after each match (content only). */
  context: number;
  /** Stop after this many matches (content: matching lines; files: paths). */
  maxMatches: number;
  timeoutMs: number;
}

export interface SearchMatch {
  path: string;
  /** 1-based; 0 for `target: 'files'`. */
  line: number;
  text: string;
  /** Context lines carry false. */
  isMatch: boolean;
}

export interface SearchResult {
  matches: SearchMatch[];
  /** Whether the search stopped before it had seen everything, and why. */
  incomplete: 'no' | 'limit' | 'timeout';
}

/**
 * Where one prompt's commands and files live. Working directory and exported environment last from
 * one command to the next. Paths are relative to the current working directory or absolute. Every
 * method throws `SandboxLostError` once the sandbox is gone.
 */
export interface Sandbox {
  run(request: CommandRequest): Promise<CommandResult>;
  /** Throws `SandboxFileError`. */
  readFile(path: string, maxBytes: number): Promise<FileContent>;
  /** Replaces the file whole, making its folders. Throws `SandboxFileError`. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  /** Throws `SandboxFileError`, also for a pattern that is not valid. */
  search(request: SearchRequest): Promise<SearchResult>;
  /** Ends every process of the sandbox and removes its files. Never throws, may be called twice. */
  close(): Promise<void>;
}

/** The sandbox is gone: the attempt ends, nothing of this is shown to the model. */
export class SandboxLostError extends Error {
  override readonly name = 'SandboxLostError';
}

/** The image can't be had. */
export class ImageUnavailableError extends Error {
  override readonly name = 'ImageUnavailableError';
}

/** A file operation that failed in a way the model should read about. */
export class SandboxFileError extends Error {
  override readonly name = 'SandboxFileError';
  readonly code:
    | 'not_found'
    | 'is_directory'
    | 'not_a_file'
    | 'outside'
    | 'permission'
    | 'invalid_pattern'
    | 'io';

  constructor(message: string, code: SandboxFileError['code'], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
