import type { BatchClosing, DispatchedBatches } from '../../ports/dispatched-batches.ts';
import type { PromptOutcomes } from '../../ports/prompt-outcomes.ts';
import type { AttemptRecord, PromptRecord } from '../attempt-record.ts';
import type { BatchRecord } from '../batch-record.ts';
import { closeLeftBatch, type LeftBatchDeps } from '../close-left-batch.ts';
import { promptProgress } from '../prompt-progress.ts';
import type { PlanHold } from './plan-hold.ts';

const AT_ONCE = 10;

export interface CloseEarlierDeps extends Pick<LeftBatchDeps, 'objects' | 'now'> {
  batches: Pick<DispatchedBatches, 'open' | 'read' | 'attempts' | 'close'>;
  outcomes(run: string): PromptOutcomes;
  log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void;
}

/**
 * Closes what earlier passes left open, with nothing ended: their prompts are planned anew. What was
 * tried of them is noted, so that the numbers of their attempts go on.
 */
export async function closeEarlierBatches(hold: PlanHold, deps: CloseEarlierDeps): Promise<void> {
  const { run_name: run, pass } = hold.run;
  for (let closed = 1; closed > 0; ) {
    closed = 0;
    const listed = await deps.batches.open(run, AT_ONCE, pass);
    // The index lags behind: what is closed may still be in it.
    const open = await deps.batches.read(listed.map(({ batch }) => ({ run, batch })));
    await hold.touch();
    for (const batch of open) {
      if (batch.state === 'closed' || batch.state === 'merged') continue;
      if (await closeUnfinished(hold, batch, deps)) closed += 1;
    }
  }
}

async function closeUnfinished(
  { run }: PlanHold,
  batch: BatchRecord,
  deps: CloseEarlierDeps,
): Promise<boolean> {
  const outcomes = deps.outcomes(run.run_name);
  const attempts = await deps.batches.attempts({ run: run.run_name, batch: batch.batch });
  // Before it is closed: after that nobody comes back to it.
  for (const { position, reference, hasEnded } of promptProgress(
    batch,
    attempts,
    run.max_attempts,
  )) {
    const last = attempts.filter((attempt) => attempt.position === position).at(-1);
    if (!hasEnded && last !== undefined) await outcomes.note(reference, noteOf(batch, last));
  }
  const left = {
    batches: { attempts: async () => attempts, close: closeNoting(deps) },
    objects: deps.objects,
    now: deps.now,
    log: (message: string, fields: Record<string, unknown>) => deps.log('info', message, fields),
  };
  return await closeLeftBatch(left, { run, batch, image: batch.image }, undefined);
}

/** Rows that are adopted may be attempts that are not their prompt's last. */
function closeNoting({ batches }: CloseEarlierDeps) {
  return (batch: BatchRecord, { ends, unfinished }: BatchClosing, now: number) =>
    batches.close(
      batch,
      {
        ends: ends.map((end) => ({ ...end, prompt: end.prompt ?? noteOf(batch, end.attempt) })),
        unfinished,
      },
      now,
    );
}

function noteOf({ batch }: BatchRecord, attempt: AttemptRecord): PromptRecord {
  const { position, sample_key, entry } = attempt;
  const { outcome, timing } = entry;
  return { outcome, attempt: timing.attempt, batch, position, sample_key };
}
