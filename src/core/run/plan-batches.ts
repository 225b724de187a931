import type { DatasetRow } from '../dataset/dataset-row.ts';
import { createOccurrences, promptHash, promptId } from '../dataset/prompt-id.ts';

/** A row of the dataset as one pass sees it; `index` counts the valid rows from 0. */
export interface IndexedRow {
  index: number;
  row: DatasetRow;
}

export interface PlannedPrompt {
  promptId: string;
  promptIndex: number;
  sample: number;
  row: DatasetRow;
}

/** Prompts of one image, in dataset order. Its number is given when it starts. */
export interface PlannedBatch {
  image: string;
  prompts: PlannedPrompt[];
}

export interface PlanOptions {
  samplesPerPrompt: number;
  /** Only the first rows of the dataset, where set. */
  maxSamples?: number | undefined;
  sha256Hex(text: string): string;
}

/** Every prompt of a dataset: each row gives `samplesPerPrompt` of them, in order. */
export async function* promptsOf(
  rows: AsyncIterable<IndexedRow>,
  options: PlanOptions,
): AsyncGenerator<PlannedPrompt> {
  const occurrences = createOccurrences(options.samplesPerPrompt);
  for await (const { index, row } of rows) {
    if (options.maxSamples !== undefined && index >= options.maxSamples) return;
    const hash = promptHash(row, options.sha256Hex);
    const first = occurrences.take(hash);
    for (let sample = 0; sample < options.samplesPerPrompt; sample += 1) {
      yield { promptId: promptId(hash, first + sample), promptIndex: index, sample, row };
    }
  }
}

/**
 * The batches that a pass still owes: a pure function of the dataset and of what is done. Holds one
 * open batch an image in memory; a batch is given out as soon as it is full.
 */
export function planBatches(
  prompts: AsyncIterable<PlannedPrompt>,
  batchSize: number,
  isDone: (promptId: string) => boolean,
): AsyncGenerator<PlannedBatch> {
  return groupByImage(owed(prompts, isDone), batchSize, ({ row }) => row.image);
}

async function* owed(
  prompts: AsyncIterable<PlannedPrompt>,
  isDone: (promptId: string) => boolean,
): AsyncGenerator<PlannedPrompt> {
  for await (const prompt of prompts) {
    if (!isDone(prompt.promptId)) yield prompt;
  }
}

/**
 * Groups of up to `size` of one image, each as soon as it is full; in the end those that are not, in
 * the order in which they began.
 */
export async function* groupByImage<T>(
  items: AsyncIterable<T>,
  size: number,
  imageOf: (item: T) => string,
): AsyncGenerator<{ image: string; prompts: T[] }> {
  const open = new Map<string, { image: string; prompts: T[] }>();
  for await (const item of items) {
    const image = imageOf(item);
    const group = open.get(image) ?? { image, prompts: [] };
    group.prompts.push(item);
    if (group.prompts.length < size) {
      open.set(image, group);
    } else {
      open.delete(image);
      yield group;
    }
  }
  yield* open.values();
}
