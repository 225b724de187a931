import { datasetLineRow } from '../../dataset/dataset-line-row.ts';
import { datasetLines } from '../../dataset/dataset-lines.ts';
import { createInvalidLines, type InvalidLine } from '../../dataset/invalid-lines.ts';
import { joinBytes } from '../../dataset/join-bytes.ts';
import { ConfigError } from '../../run/flag-values.ts';

const BLOCK_BYTES = 1024 * 1024;
const LF = Uint8Array.of(0x0a);

export interface CopyDeps {
  /** What messages call the dataset. */
  file: string;
  /** Refuse a dataset with any bad line. */
  strict: boolean;
  hash: { update(bytes: Uint8Array): void; digest(): string };
  /** Takes the next bytes of `input.jsonl`. */
  write(bytes: Uint8Array): Promise<void>;
  /** Called after every mebibyte; may throw to end the copy. */
  tick(): Promise<void>;
}

export interface CopiedDataset {
  /** Of what was written, hex. */
  sha256: string;
  rows: number;
  invalidCount: number;
  /** The first 20. */
  invalid: readonly InvalidLine[];
}

/**
 * Writes the dataset's valid rows, each one line, in its order: line k (from 0) is prompt_index k.
 * The same bytes as those of a local run's `input.jsonl`. Throws `DatasetError` where there is no
 * valid row, and with `strict` `ConfigError` for any bad line.
 */
export async function copyDataset(
  dataset: AsyncIterable<Uint8Array>,
  deps: CopyDeps,
): Promise<CopiedDataset> {
  const bad = createInvalidLines();
  let parts: Uint8Array[] = [];
  let waiting = 0;
  let rows = 0;

  async function flush(): Promise<void> {
    const block = joinBytes(parts);
    parts = [];
    waiting = 0;
    deps.hash.update(block);
    await deps.write(block);
    await deps.tick();
  }

  for await (const line of datasetLines(dataset)) {
    const result = datasetLineRow(line);
    if (!result.ok) {
      bad.add(line.lineNumber, result.reason);
    } else if ('bytes' in line) {
      rows += 1;
      parts.push(line.bytes, LF);
      waiting += line.bytes.length + LF.length;
    }
    // Awaiting every line would cost more than parsing it.
    if (waiting >= BLOCK_BYTES) await flush();
  }
  if (rows === 0) throw bad.noRows(deps.file);
  const [first] = bad.listed;
  if (deps.strict && first !== undefined) {
    throw new ConfigError(
      `strict: the dataset has ${bad.count()} bad lines, the first is line ${first.line}: ${first.reason}`,
    );
  }
  if (waiting > 0) await flush();
  return {
    sha256: deps.hash.digest(),
    rows,
    invalidCount: bad.count(),
    invalid: bad.listed,
  };
}
