import type { Ledger } from '../ports/ledger.ts';
import type { AttemptRef, RunObserver } from '../ports/observer.ts';
import type { TrajectoryStore } from '../ports/trajectory-store.ts';
import { ledgerEntryOf } from '../run/ledger-entry.ts';
import type { PlannedPrompt } from '../run/plan-batches.ts';
import { isRetried, stopsRun } from '../trajectory/outcome.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { RunStop } from './run-stop.ts';
import type { Slots } from './slots.ts';

/** A prompt, as far as a batch has to know it. */
export type BatchPrompt = Omit<PlannedPrompt, 'row'>;

export interface RunBatchDeps<P extends BatchPrompt = PlannedPrompt> {
  /** One attempt; never throws. */
  runPrompt(prompt: P, ref: AttemptRef): Promise<Trajectory | 'handed_back'>;
  store: TrajectoryStore;
  ledger: Pick<Ledger, 'append'>;
  observer: RunObserver;
  slots: Slots;
  stop: RunStop;
  /** Attempts of earlier passes, so that numbers go on. */
  attemptsBefore(promptId: string): number;
  /** Called before each prompt starts; may stop the run over its budget. */
  mayStart(): boolean;
}

export interface BatchOfPass<P extends BatchPrompt = PlannedPrompt> {
  number: number;
  pass: number;
  /** Attempts each prompt has in this pass. */
  maxAttempts: number;
  prompts: readonly P[];
}

/**
 * Runs a batch prompt by prompt: attempt → row durable → ledger entry, which is the commit. What
 * failed by infrastructure or model is tried again when the others are done. Rejects only when
 * store or ledger can't be written: then nothing further can be trusted to be durable.
 */
export async function runBatch<P extends BatchPrompt>(
  batch: BatchOfPass<P>,
  deps: RunBatchDeps<P>,
): Promise<void> {
  let owed = batch.prompts;
  for (let round = 1; owed.length > 0 && round <= batch.maxAttempts; round += 1) {
    const last = round === batch.maxAttempts;
    const ended = await Promise.allSettled(
      owed.map((prompt) => deps.slots.run(() => runAndRecord(prompt, round, last))),
    );
    owed = ended.flatMap((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value === undefined ? [] : [end.value];
    });
  }
  await deps.store.close(batch.number);
  deps.observer.batchClosed(batch.number);

  /** The prompt itself where it is to be tried again. */
  async function runAndRecord(prompt: P, round: number, last: boolean): Promise<P | undefined> {
    if (deps.stop.handBack.aborted || !deps.mayStart()) return undefined;
    const ref: AttemptRef = {
      promptId: prompt.promptId,
      promptIndex: prompt.promptIndex,
      sample: prompt.sample,
      batch: batch.number,
      attempt: deps.attemptsBefore(prompt.promptId) + round,
    };
    deps.observer.attemptStarted(ref);
    const row = await deps.runPrompt(prompt, ref);
    if (row === 'handed_back') {
      deps.observer.handedBack(ref);
      return undefined;
    }
    try {
      await deps.store.append(row);
      await deps.ledger.append(ledgerEntryOf(row, batch.pass, false));
    } catch (error) {
      // The other prompts in flight are not to be paid for either: they could not be kept.
      deps.stop.fail(error);
      throw error;
    }
    const retry = isRetried(row.outcome) && !last && !deps.stop.handBack.aborted;
    deps.observer.attemptEnded(ref, row, !retry);
    if (stopsRun(row.outcome)) deps.stop.request({ kind: 'refused', reason: row.reason });
    return retry ? prompt : undefined;
  }
}
