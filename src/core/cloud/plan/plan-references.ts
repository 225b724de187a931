import { datasetLineRow } from '../../dataset/dataset-line-row.ts';
import { datasetLines } from '../../dataset/dataset-lines.ts';
import { createOccurrences, promptHash } from '../../dataset/prompt-id.ts';
import type { PromptOutcomes } from '../../ports/prompt-outcomes.ts';
import { groupByImage } from '../../run/plan-batches.ts';
import { isDone } from '../../trajectory/outcome.ts';
import type { PromptReference } from '../batch-record.ts';

/** A prompt of the pass by reference, with the image that it is grouped by. */
export interface ReferencedPrompt {
  image: string;
  reference: PromptReference;
}

export interface ReferencedBatch {
  image: string;
  prompts: PromptReference[];
}

export interface ReferenceOptions {
  batchSize: number;
  samplesPerPrompt: number;
  /** Only the first rows, where set. */
  maxSamples: number | undefined;
  sha256Hex(text: string): string;
  /** What earlier passes have done; undefined for a run's first. */
  outcomes: PromptOutcomes | undefined;
}

/**
 * The batches that a pass owes, from its `input.jsonl`: a pure function of it and of what is done,
 * the same as of a local run. Memory: one open batch an image, and some 60 bytes a prompt.
 */
export async function* planReferences(
  input: AsyncIterable<Uint8Array>,
  options: ReferenceOptions,
): AsyncGenerator<ReferencedBatch> {
  const prompts = references(input, options);
  const { outcomes } = options;
  const owed = outcomes === undefined ? prompts : owedReferences(prompts, outcomes);
  for await (const { image, prompts: of } of groupByImage(
    owed,
    options.batchSize,
    (prompt) => prompt.image,
  )) {
    yield { image, prompts: of.map(({ reference }) => reference) };
  }
}

async function* references(
  input: AsyncIterable<Uint8Array>,
  { samplesPerPrompt, maxSamples = Number.POSITIVE_INFINITY, sha256Hex }: ReferenceOptions,
): AsyncGenerator<ReferencedPrompt> {
  const occurrences = createOccurrences(samplesPerPrompt);
  // Its lines were within their limit when it was written.
  const lines = datasetLines(input, { maxLineBytes: Number.POSITIVE_INFINITY });
  let index = 0;
  for await (const line of lines) {
    if (index >= maxSamples) return;
    const result = datasetLineRow(line);
    if (!result.ok || !('bytes' in line)) {
      throw new Error(`input.jsonl:${line.lineNumber}: expected a valid row`);
    }
    const hash = promptHash(result.row, sha256Hex);
    const first = occurrences.take(hash);
    for (let sample = 0; sample < samplesPerPrompt; sample += 1) {
      const place = { offset: line.offset, length: line.bytes.length };
      const of = { index, sample, hash, occurrence: first + sample, ...place };
      yield { image: result.row.image, reference: { ...of, attempts_before: 0 } };
    }
    index += 1;
  }
}

/** Prompts that are asked for in one call, and calls at once. */
const ASKED = 100;
const CALLS = 8;

/** Those that are not done, in order, each with the number of its last attempt. */
async function* owedReferences(
  prompts: AsyncIterable<ReferencedPrompt>,
  outcomes: PromptOutcomes,
): AsyncGenerator<ReferencedPrompt> {
  const calls: Promise<ReferencedPrompt[]>[] = [];
  let group: ReferencedPrompt[] = [];
  const ask = () => {
    const call = askOwed(group, outcomes);
    // Waited for later: until then nobody else listens.
    call.catch(() => undefined);
    calls.push(call);
    group = [];
  };
  for await (const prompt of prompts) {
    group.push(prompt);
    if (group.length < ASKED) continue;
    ask();
    if (calls.length >= CALLS) yield* (await calls.shift()) ?? [];
  }
  if (group.length > 0) ask();
  for (const call of calls) yield* await call;
}

async function askOwed(
  group: readonly ReferencedPrompt[],
  outcomes: PromptOutcomes,
): Promise<ReferencedPrompt[]> {
  const known = await outcomes.of(group.map(({ reference }) => reference));
  return group.flatMap(({ image, reference }, at) => {
    const last = known[at];
    if (last === undefined) return [{ image, reference }];
    if (isDone(last.outcome)) return [];
    return [{ image, reference: { ...reference, attempts_before: last.attempt } }];
  });
}
