import type { DatasetRow } from './dataset-row.ts';
import { createPromptTable } from './prompt-table.ts';

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export type Sha256Hex = (text: string) => string;

/** What makes two rows the same prompt: 64 hex digits over prompt, image and cwd. */
export function promptHash(
  row: Pick<DatasetRow, 'prompt' | 'image' | 'cwd'>,
  sha256Hex: Sha256Hex,
): string {
  return sha256Hex(JSON.stringify([row.prompt, row.image, row.cwd]));
}

/** The identity of a prompt over all passes of a run. */
export function promptId(hash: string, occurrence: number): string {
  return `${hash}-${occurrence}`;
}

export interface Occurrences {
  /**
   * The occurrence of the row's sample 0; sample s has this number plus s. Each call takes
   * `samples_per_prompt` numbers of that hash, so call it once a row, in dataset order.
   */
  take(hash: string): number;
}

/** Running numbers over equal hashes, from 0. */
export function createOccurrences(samplesPerPrompt: number): Occurrences {
  const taken = createPromptTable();
  return {
    take(hash) {
      const key = promptId(hash, 0);
      const first = taken.get(key) ?? 0;
      taken.set(key, first + samplesPerPrompt);
      return first;
    },
  };
}
