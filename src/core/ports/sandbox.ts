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
  /**
   * Gives the command a terminal of 80x24 in place of pipes; its newlines come as plain ones. Throws
   * `SandboxProcessError` `no_terminal` where there can be none.
   */
  pty?: boolean;
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
  /** Memory ran out while it ran, and the kernel ended processes of the sandbox; it failed then. */
  outOfMemory?: boolean | undefined;
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

export interface ProcessRequest {
  /** Shell source text. */
  command: string;
  /** Folder to start in, relative to the current one or absolute. */
  workdir?: string;
  /** As for a command; what is written to its input is typed at the terminal. */
  pty?: boolean;
}

/** A background process as it stands; plain data, so that a daemon can answer with it. */
export interface ProcessStatus {
  /** Names the process within its sandbox. */
  id: string;
  /** As the sandbox numbers processes. */
  pid: number;
  command: string;
  /** Undefined while it runs; 128 + n after signal n. */
  exitCode: number | undefined;
  /** From its start to its end, or to now. */
  runMs: number;
}

/** The last part of a process's output, standard output and error as one stream. */
export interface ProcessOutput {
  bytes: Uint8Array;
  /** What came before `bytes`: kept no longer, or not asked for. */
  skippedBytes: number;
  /** Newlines among the skipped bytes. */
  skippedLines: number;
}

/**
 * Background processes, by id. They start with the shell's current directory and exports and change
 * neither; they end with the sandbox, their groups with them. An id that names none, and what else
 * is the caller's mistake, throws `SandboxProcessError`.
 */
export interface SandboxProcesses {
  /** At most 32 run at once; of ended ones the oldest are forgotten. */
  startProcess(request: ProcessRequest): Promise<ProcessStatus>;
  /** In the order they were started. */
  listProcesses(): Promise<ProcessStatus[]>;
  /** Resolves once the process has ended, the time is up or the signal aborts. */
  waitForProcess(
    id: string,
    limit: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<ProcessStatus>;
  /** At most `maxBytes` of what is kept: the last 256 KiB. */
  processOutput(id: string, maxBytes: number): Promise<ProcessOutput>;
  /** Hands bytes to the process's input; resolves without waiting for it to read them. */
  writeToProcess(id: string, bytes: Uint8Array): Promise<void>;
  /** Ends the process's input. May be called twice. */
  closeProcessInput(id: string): Promise<void>;
  /** Ends the process and its group, by SIGTERM and a second later by SIGKILL. */
  killProcess(id: string): Promise<ProcessStatus>;
}

/**
 * Where one prompt's commands and files live. Working directory and exported environment last from
 * one command to the next. Paths are relative to the current working directory or absolute. Every
 * method throws `SandboxLostError` once the sandbox is gone.
 */
export interface Sandbox extends SandboxProcesses {
  run(request: CommandRequest): Promise<CommandResult>;
  /** Throws `SandboxFileError`. */
  readFile(path: string, maxBytes: number): Promise<FileContent>;
  /** Replaces the file whole, making its folders. Throws `SandboxFileError`. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  /** Removes a file, or the link itself where it is one. Throws `SandboxFileError`. */
  deleteFile(path: string): Promise<void>;
  /**
   * Renames a file, making the new path's folders; its mode stays. Throws `SandboxFileError`,
   * `exists` where something is at the new path.
   */
  moveFile(from: string, to: string): Promise<void>;
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
    | 'exists'
    | 'outside'
    | 'permission'
    | 'invalid_pattern'
    | 'io';

  constructor(message: string, code: SandboxFileError['code'], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A request about a background process or a terminal that can't be met, as the model should read it. */
export class SandboxProcessError extends Error {
  override readonly name = 'SandboxProcessError';
  readonly code:
    | 'unknown_process'
    | 'too_many'
    | 'input_closed'
    | 'input_full'
    | 'not_started'
    | 'no_terminal';

  constructor(message: string, code: SandboxProcessError['code'], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
