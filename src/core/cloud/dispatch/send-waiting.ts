import type { BatchRecord } from '../batch-record.ts';
import { freeOfRun, shareInTurn } from '../free-launches.ts';
import type { DispatchDeps } from './dispatch-deps.ts';
import type { LaunchState } from './launch-state.ts';

/**
 * Sends batches again that wait, runs in turn, as many as may be launched now; with `lostBefore` those
 * too whose message was sent before then and seems lost. Resolves to how many.
 */
export async function sendWaiting(
  deps: DispatchDeps,
  state: LaunchState,
  { free, lostBefore }: { free: number; lostBefore?: number },
): Promise<number> {
  const runs = [...state.runs.values()].filter((run) => freeOfRun(run) > 0);
  if (free === 0 || runs.length === 0) return 0;
  const now = deps.clock.now();
  const due: BatchRecord[][] = [];
  for (const run of runs) {
    const most = Math.min(free, freeOfRun(run));
    const waiting = await deps.batches.waiting(run.run_name, now, most);
    const lost =
      lostBefore === undefined || waiting.length >= most
        ? []
        : await deps.batches.queuedBefore(run.run_name, lostBefore, most - waiting.length);
    due.push([...waiting, ...lost]);
  }
  // Not always the same run first.
  const first = Math.floor(now / 1000) % runs.length;
  const shares = shareInTurn(
    free,
    due.map(({ length }) => length),
    first,
  );
  let sent = 0;
  for (const [at, batches] of due.entries()) {
    for (const batch of batches.slice(0, shares[at])) {
      if (await sendBatch(deps, batch)) sent += 1;
    }
  }
  return sent;
}

/** Marks a batch as queued and sends its message; false where it changed meanwhile. */
async function sendBatch(deps: DispatchDeps, batch: BatchRecord): Promise<boolean> {
  if (!(await deps.batches.queue(batch, deps.clock.now()))) return false;
  const { run_name: run, pass, batch: number, image, prompts } = batch;
  await deps.inbox.send({ v: 1, run, pass, batch: number, image, prompts });
  return true;
}
