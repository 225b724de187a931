import type { BatchClosing, DispatchedBatches } from '../../ports/dispatched-batches.ts';
import type { PlannedBatches } from '../../ports/planned-batches.ts';
import type { PromptOutcomes } from '../../ports/prompt-outcomes.ts';
import type { AttemptRecord, PromptRecord } from '../attempt-record.ts';
import type { BatchRecord } from '../batch-record.ts';
import { closeLeftBatch, type LeftBatchDeps } from '../close-left-batch.ts';
import { promptProgress } from '../prompt-progress.ts';
import type { PlanHold } from './plan-hold.ts';

const MOST = 200;
const AT_ONCE = 10;
/** Looks at an index that still lists what is closed or gone. */
const STALE_LOOKS = 50;

export interface CloseEarlierDeps extends Pick<LeftBatchDeps, 'objects' | 'now'> {
  planned: Pick<PlannedBatches, 'removeFrom'>;
  batches: Pick<DispatchedBatches, 'open' | 'read' | 'attempts' | 'close'>;
  outcomes(run: string): PromptOutcomes;
  log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void;
}

/**
 * Closes what earlier passes left open, with nothing ended: their prompts are planned anew. What was
 * tried of them is noted, so that the numbers of their attempts go on.
 */
export async function closeEarlierBatches(hold: PlanHold, deps: CloseEarlierDeps): Promise<void> {
  const { run_name: run, pass, batches_total: total } = hold.run;
  // What a plan left that never came to run is counted by nobody: it must not be closed.
  await deps.planned.removeFrom(run, total, pass);
  for (let stale = 0; stale < STALE_LOOKS; ) {
    const listed = await deps.batches.open(run, MOST, pass);
    const closed = await closeListed(hold, listed, deps);
    if (closed === 0 && listed.length < MOST) return;
    stale = closed === 0 ? stale + 1 : 0;
  }
  throw new Error(`${run}: the index of its open batches does not keep up`);
}

/** Resolves to how many of them were open and are closed now. */
async function closeListed(
  hold: PlanHold,
  listed: readonly BatchRecord[],
  deps: CloseEarlierDeps,
): Promise<number> {
  const { run_name: run, batches_total: total } = hold.run;
  let closed = 0;
  for (let at = 0; at < listed.length; at += AT_ONCE) {
    const ids = listed.slice(at, at + AT_ONCE).map(({ batch }) => ({ run, batch }));
    // The index lags behind: what is closed may still be in it.
    const open = (await deps.batches.read(ids)).filter(
      ({ batch, state }) => batch < total && state !== 'closed' && state !== 'merged',
    );
    const became = await Promise.all(open.map((batch) => closeUnfinished(hold, batch, deps)));
    closed += became.filter(Boolean).length;
    await hold.touch();
  }
  return closed;
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
