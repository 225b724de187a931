import type { BatchKind } from '../run/batch-kind.ts';

/** One batch's share of a joined file: how many rows the ledger says it has. */
export interface BatchPart {
  batch: number;
  rows: number;
}

export interface JoinedFile {
  rows: number;
  bytes: number;
}

/** The files of a whole run, each replaced whole or not at all. */
export interface RunFiles {
  /**
   * Joins the files of one kind in the order given, bytes as they are, under `name`. Rejects with
   * an error that names the file when a batch has other rows than it should. With `keepRow`, only
   * the lines for which it is true (of a prompt id and an attempt) are taken.
   */
  joinBatches(
    name: string,
    kind: BatchKind,
    parts: readonly BatchPart[],
    keepRow?: (promptId: string, attempt: number) => boolean,
  ): Promise<JoinedFile>;
  write(name: string, text: string): Promise<void>;
}
