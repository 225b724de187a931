import { uploadedDataset } from '../../src/core/cloud/bucket-keys.ts';
import { claimUpload } from '../../src/core/cloud/plan/claim-upload.ts';
import {
  DatasetTimeError,
  OutOfTimeError,
  type PlanHold,
  PlanLostError,
} from '../../src/core/cloud/plan/plan-hold.ts';
import { type PlanDeps, planPass } from '../../src/core/cloud/plan/plan-pass.ts';
import { isRefusal, type RefuseDeps, refusePass } from '../../src/core/cloud/plan/refuse-pass.ts';
import { takePlan } from '../../src/core/cloud/plan/take-plan.ts';
import { eventKey, type S3Record, starterEventSchema } from './event.ts';

export interface StarterDeps extends PlanDeps, RefuseDeps {
  /** Invokes this function anew, to go on with what this invocation has no time for. */
  goOn(event: { run: string; owner: string; hops: number }): Promise<void>;
}

/** Below what AWS takes for a loop; what is left then is the sweep's. */
const MAX_HOPS = 10;

/** Answers one event. Throws what a later try may mend. */
export async function start(event: unknown, deps: StarterDeps): Promise<void> {
  const parsed = starterEventSchema.parse(event);
  if ('Records' in parsed) await startUploads(parsed.Records, deps);
  else if ('resume_planning' in parsed) await resume(parsed.resume_planning, deps);
  else if ('continue_planning' in parsed) {
    const { run, owner, hops } = parsed.continue_planning;
    await plan(await takePlan(run, deps, owner), hops, deps);
  }
}

/** Each by itself: what is wrong with one holds up none of the others. */
async function startUploads(records: readonly S3Record[], deps: StarterDeps): Promise<void> {
  const failures: unknown[] = [];
  for (const record of records) {
    await startUpload(record, deps).catch((error) => failures.push(error));
  }
  if (failures.length > 1) throw new AggregateError(failures, 'several uploads failed');
  if (failures.length === 1) throw failures[0];
}

async function startUpload({ s3 }: S3Record, deps: StarterDeps): Promise<void> {
  const key = eventKey(s3.object.key);
  const upload = uploadedDataset(key);
  if (upload === undefined) {
    deps.log('info', 'ignored: no dataset of a run', { key });
    return;
  }
  const version = s3.object.versionId ?? (await deps.files.versionOf(key));
  if (version === undefined) {
    deps.log('info', 'ignored: the object is gone', { key });
    return;
  }
  const sequencer = s3.object.sequencer ?? '';
  const claimed = await claimUpload(upload.runName, { key, version_id: version, sequencer }, deps);
  if (claimed === 'resume') await resume(upload.runName, deps);
  else await plan(claimed, 0, deps);
}

async function resume(run: string, deps: StarterDeps): Promise<void> {
  await plan(await takePlan(run, deps), 0, deps);
}

type Held = Awaited<ReturnType<typeof takePlan>>;

/** Plans what is held, and then the dataset that waited behind one that was refused. */
async function plan(first: Held, hops: number, deps: StarterDeps): Promise<void> {
  let held = first;
  while (held !== undefined) {
    const hold = 'exhausted' in held ? held.exhausted : held;
    if ('exhausted' in held && hold.run.state === 'running') {
      // All batches are there: the sweep sends what waits.
      await deps.claims.finish(hold.run.run_name, hold.planner);
      return;
    }
    const words = 'exhausted' in held ? exhausted(hold) : await tryPlan(hold, hops, deps);
    if (words === undefined) return;
    const then = await refusePass(hold, words, deps);
    held = then === 'next' ? await takePlan(hold.run.run_name, deps) : undefined;
  }
}

function exhausted({ planner }: PlanHold): string {
  const last = planner.problem === '' ? '' : `, at last with: ${planner.problem}`;
  return `its planner ended ${planner.tries - 1} times before it was done${last}`;
}

/** Resolves to why the pass can't be, or undefined. */
async function tryPlan(
  hold: PlanHold,
  hops: number,
  deps: StarterDeps,
): Promise<string | undefined> {
  const { run_name: run, pass } = hold.run;
  try {
    await planPass(hold, deps);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const end = endOf(error, hops);
    if (end === 'refused') return message;
    deps.log(end === 'failed' ? 'error' : 'info', message, { run, pass, hops, end });
    if (end === 'goes on') {
      await deps.goOn({ run, owner: hold.planner.owner, hops: hops + 1 });
    } else if (end === 'failed') {
      // Whoever tries next need not wait for the lease.
      await hold.save({ lease_until: 0, problem: message.slice(0, 1000) }).catch(() => undefined);
      throw error;
    }
    return undefined;
  }
}

function endOf(error: unknown, hops: number): 'lost' | 'goes on' | 'refused' | 'failed' {
  if (error instanceof PlanLostError) return 'lost';
  if (isRefusal(error)) return 'refused';
  if (error instanceof OutOfTimeError) return hops < MAX_HOPS ? 'goes on' : 'failed';
  // The second time it had all the time that there is.
  if (error instanceof DatasetTimeError) return hops === 0 ? 'goes on' : 'refused';
  return 'failed';
}
