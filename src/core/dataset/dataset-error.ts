/** A dataset that can't be used; the message names the file, what was expected and what came. */
export class DatasetError extends Error {
  override readonly name = 'DatasetError';
  /** As the user named it; "standard input" for `-`. */
  readonly file: string;
  /** 1-based, or 0 where the fault is not in a line. */
  readonly line: number;

  constructor(file: string, line: number, problem: string, options?: ErrorOptions) {
    super(`${line === 0 ? file : `${file}:${line}`}: ${problem}`, options);
    this.file = file;
    this.line = line;
  }
}
