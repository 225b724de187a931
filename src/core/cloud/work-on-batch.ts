import { promptId } from '../dataset/prompt-id.ts';
import { type BatchWork, LeaseLostError } from '../ports/batch-work.ts';
import type { Clock } from '../ports/clock.ts';
import type { AttemptRef, RunObserver } from '../ports/observer.ts';
import type { WorkerObjects } from '../ports/worker-objects.ts';
import type { PlannedPrompt } from '../run/plan-batches.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { type BatchPrompt, runBatch } from '../work/run-batch.ts';
import type { RunStop } from '../work/run-stop.ts';
import { createSlots } from '../work/slots.ts';
import { adoptSamples } from './adopt-samples.ts';
import { type BatchBook, createBatchBook } from './batch-book.ts';
import type { BatchRecord } from './batch-record.ts';
import { entryWithoutRow } from './entry-without-row.ts';
import { workOf } from './prompt-progress.ts';
import type { StoredSample } from './samples-to-adopt.ts';

/** Free disk below which nothing further starts: what runs may need it, and so may logs. */
const LEAST_DISK_BYTES = 2 * 1024 ** 3;
/** Wait before the next launch where this one could not store or lost its sandboxes. */
const FAULT_WAIT_MS = 30_000;
const TOO_OFTEN = { outcome: 'failed/internal', reason: 'ended its worker three times' } as const;

export interface WorkOnBatchDeps {
  work: BatchWork;
  objects: WorkerObjects;
  clock: Clock;
  observer: RunObserver;
  stop: RunStop;
  launch: number;
  /** Of `run.json`. */
  maxAttempts: number;
  model: string;
  /** As rows record it. */
  image: string;
  /** The pass whose `input.jsonl` has the batch's rows. */
  inputOfPass: number;
  /** Prompts at once; 1 after a launch that died. */
  concurrency: number;
  runPrompt(prompt: PlannedPrompt, ref: AttemptRef): Promise<Trajectory | 'handed_back'>;
  /** Told how many prompts will want a sandbox, before the first does. */
  onOwed(count: number): void;
  /** Bytes left on the task's disk. */
  freeDisk(): number;
  /** Resolves when nothing more is waited for: what is in flight then is handed back as it is. */
  deadline: Promise<void>;
  log(message: string, fields?: Record<string, unknown>): void;
}

/** How a launch left its batch: nothing owed any more, or for another launch to go on with. */
export type WorkEnd = 'closed' | 'handed_back';

interface OwedPrompt extends BatchPrompt {
  position: number;
}

/**
 * One launch's work on a batch that it has claimed: each prompt that is owed is tried once. Leaves the
 * batch closed or handed back. Throws `LeaseLostError` where another launch has it by now.
 */
export async function workOnBatch(batch: BatchRecord, deps: WorkOnBatchDeps): Promise<WorkEnd> {
  const attempts = await deps.work.attempts();
  const book = createBatchBook(batch, attempts, deps);
  const adopted = await adoptSamples(batch, attempts, { ...deps, book, onLeft: leftLog(deps) });
  if (adopted > 0) deps.log('adopted rows of earlier launches', { adopted });
  const { run, giveUp } = workOf(book.progress(), batch.careful);
  const now = new Date(deps.clock.now()).toISOString();
  for (const of of giveUp) {
    const entry = entryWithoutRow({ ...deps, batch, now }, of, TOO_OFTEN);
    const { position } = of;
    await book.commit({ position, launch: deps.launch, sampleKey: '', entry, isFinal: true });
  }
  deps.onOwed(run.length);
  const prompts = run.map(({ position, reference }): OwedPrompt => {
    const { hash, occurrence, index, sample } = reference;
    return { promptId: promptId(hash, occurrence), promptIndex: index, sample, position };
  });
  const failure = await Promise.race([runPrompts(batch, prompts, book, deps), deps.deadline]);
  if (failure instanceof LeaseLostError) throw failure;
  return await leave(book, deps);
}

/** Resolves, to the error where storing failed, when all prompts are settled. */
async function runPrompts(
  batch: BatchRecord,
  prompts: readonly OwedPrompt[],
  book: BatchBook,
  deps: WorkOnBatchDeps,
): Promise<unknown> {
  const positions = new Map(prompts.map((prompt) => [prompt.promptId, prompt.position]));
  const attempts = new Map(book.progress().map((of) => [of.position, of.nextAttempt]));
  const sampleKeys = new Map<string, string>();
  let started = 0;
  let isAbandoned = false;
  void deps.deadline.then(() => {
    isAbandoned = true;
  });

  const positionOf = (id: string): number => {
    const position = positions.get(id);
    if (position === undefined) throw new Error(`prompt ${id} is not of this batch`);
    return position;
  };

  async function runOne(prompt: OwedPrompt, ref: AttemptRef) {
    started += 1;
    const reference = batch.prompts[prompt.position];
    try {
      if (reference === undefined) throw new Error(`the batch has no prompt ${prompt.position}`);
      await book.start(prompt.position);
      const row = await deps.objects.row(reference, deps.inputOfPass);
      const result = await deps.runPrompt({ ...prompt, row }, ref);
      // What ends so late ends because all that it needs is being closed.
      return isAbandoned ? 'handed_back' : result;
    } catch (error) {
      deps.stop.fail(error);
      return 'handed_back';
    }
  }

  try {
    await runBatch(
      { number: batch.batch, pass: batch.pass, maxAttempts: 1, prompts },
      {
        runPrompt: runOne,
        store: {
          async append(row) {
            const id = row.metadata.prompt_id;
            const of = { position: positionOf(id), launch: deps.launch };
            sampleKeys.set(id, await deps.objects.putSample(batch.batch, of, row));
          },
          // The merge makes a batch's files.
          close: async () => undefined,
        },
        ledger: {
          append: (entry) =>
            book.commit({
              position: positionOf(entry.prompt_id),
              launch: deps.launch,
              sampleKey: sampleKeys.get(entry.prompt_id) ?? '',
              entry,
            }),
        },
        observer: deps.observer,
        slots: createSlots(batch.careful ? 1 : deps.concurrency),
        stop: deps.stop,
        // The batch's number for a prompt is one above.
        attemptsBefore: (id) => (attempts.get(positionOf(id)) ?? 1) - 1,
        mayStart() {
          // The first starts whatever there is: another task would have no more.
          if (started === 0 || deps.freeDisk() >= LEAST_DISK_BYTES) return true;
          deps.log('short of disk: the rest is handed back', { bytes: deps.freeDisk() });
          return false;
        },
      },
    );
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Closed is what has nothing owed: the last commit did it. */
async function leave(book: BatchBook, deps: WorkOnBatchDeps): Promise<WorkEnd> {
  const { work, stop, clock } = deps;
  if (stop.reason?.kind === 'refused') await work.pauseRun(stop.reason.reason);
  if (book.progress().every(({ hasEnded }) => hasEnded)) return 'closed';
  const isFault = stop.reason?.kind === 'storage';
  // After a fault they keep counting: what a prompt may have brought about must not go on for ever.
  const starts = isFault ? new Map<number, number>() : book.withoutOwnStarts();
  await work.handBack({ starts, notBefore: clock.now() + (isFault ? FAULT_WAIT_MS : 0) });
  return 'handed_back';
}

function leftLog({ log }: WorkOnBatchDeps) {
  return (sample: StoredSample, why: string) => log('left a row as it is', { ...sample, why });
}
