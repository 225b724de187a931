import type { BatchRecord } from '../batch-record.ts';
import { freeLaunches } from '../free-launches.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { createLauncher, type Launcher } from './launch-batch.ts';
import type { LaunchState } from './launch-state.ts';
import { createDefinitions } from './prepare-definition.ts';
import { sendWaiting } from './send-waiting.ts';

/** Queued batches are believed to have lost their message after this, if the queue gives none. */
const LOST_MS = 120_000;
/** Receives in a row without a message, after which the queue counts as empty. */
const EMPTY_RECEIVES = 2;

/** Starts tasks for batches until nothing is free, nothing waits, or the time is over. */
export async function launchBatches(deps: DispatchDeps, time: WorkTime): Promise<void> {
  const state = await readState(deps);
  const launcher = createLauncher(deps, state, createDefinitions(deps));
  const free = () =>
    state.isRefused
      ? 0
      : freeLaunches({ maxTasks: deps.settings.maxTasks, active: state.active }, [
          ...state.runs.values(),
        ]);
  let isSent = (await sendWaiting(deps, state, { free: free() })) > 0;
  let empty = 0;
  while (free() > 0 && time.isLeft()) {
    await time.hold();
    const received = await deps.inbox.receive(free(), isSent ? 1 : 0);
    isSent = false;
    if (received.length > 0) {
      empty = 0;
      await launchReceived(deps, launcher, received);
      continue;
    }
    empty += 1;
    if (empty > EMPTY_RECEIVES) break;
    // A short receive may miss what is there; a lost message is sent again.
    const lostBefore = deps.clock.now() - LOST_MS;
    isSent = (await sendWaiting(deps, state, { free: free(), lostBefore })) > 0;
    if (!isSent && !hasQueued(state)) break;
  }
  await launcher.settled();
}

async function readState(deps: DispatchDeps): Promise<LaunchState> {
  const runs = await deps.runs.inStates(['running']);
  const { active } = await deps.lease.read();
  return { runs: new Map(runs.map((run) => [run.run_name, run])), active, isRefused: false };
}

/** Whether any run still has batches that no launch has merged. */
function hasQueued(state: LaunchState): boolean {
  return [...state.runs.values()].some(
    (run) => run.batches_merged + run.active < run.batches_total,
  );
}

async function launchReceived(
  deps: DispatchDeps,
  launcher: Launcher,
  received: Awaited<ReturnType<DispatchDeps['inbox']['receive']>>,
): Promise<void> {
  const ids = received.flatMap(({ message }) =>
    message === undefined ? [] : [{ run: message.run, batch: message.batch }],
  );
  const unique = new Map(ids.map((id) => [`${id.run}/${id.batch}`, id]));
  const batches = new Map<string, BatchRecord>();
  for (const batch of await deps.batches.read([...unique.values()])) {
    batches.set(`${batch.run_name}/${batch.batch}`, batch);
  }
  await launcher.prepare([...batches.values()]);
  for (const { message, handle } of received) {
    const batch = message && batches.get(`${message.run}/${message.batch}`);
    // One message a batch: a second one finds it launching.
    if (message !== undefined) batches.delete(`${message.run}/${message.batch}`);
    await launcher.launch(batch, handle);
  }
}
