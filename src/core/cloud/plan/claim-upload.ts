import type { PassClaims } from '../../ports/pass-claims.ts';
import type { PassFiles } from '../../ports/pass-files.ts';
import { uploadKeys } from '../bucket-keys.ts';
import { decideClaim } from '../claim-decision.ts';
import type { Planner, RunRecord, Upload } from '../run-record.ts';
import { createPlanHold, PLANNER_LEASE_MS, type PlanHold, type PlanHoldDeps } from './plan-hold.ts';

export interface ClaimDeps extends PlanHoldDeps {
  claims: PassClaims;
  files: PassFiles;
  newId(): string;
  log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void;
}

/** More rounds than a run has events at once. */
const ROUNDS = 20;

/**
 * What an uploaded version leads to: a pass that this planner holds; `resume` where its own pass is
 * being planned; undefined where it is known, or waits until the run has ended.
 */
export async function claimUpload(
  runName: string,
  event: Omit<Upload, 'config_version_id'>,
  deps: ClaimDeps,
): Promise<PlanHold | 'resume' | undefined> {
  const config = await deps.files.versionOf(uploadKeys(runName).config);
  const upload = { ...event, config_version_id: config ?? '' };
  for (let round = 0; round < ROUNDS; round += 1) {
    const run = await deps.claims.read(runName);
    const decision = decideClaim(run, upload);
    const done = await act(decision, runName, run, upload, deps);
    if (done === 'again') continue;
    const fields = { run: runName, key: upload.key, version: upload.version_id, decision };
    deps.log('info', 'upload', fields);
    return done;
  }
  throw new Error(`${runName}: its state changed ${ROUNDS} times while an upload was claimed`);
}

type Claimed = PlanHold | 'resume' | undefined;

async function act(
  decision: ReturnType<typeof decideClaim>,
  runName: string,
  run: RunRecord | undefined,
  upload: Upload,
  deps: ClaimDeps,
): Promise<Claimed | 'again'> {
  const { claims } = deps;
  const now = deps.now();
  const planner: Planner = {
    owner: deps.newId(),
    lease_until: now + PLANNER_LEASE_MS,
    tries: 1,
    problem: '',
    claimed_at: now,
    from_state: run?.state ?? null,
    first_batch: 0,
    batches_put: 0,
  };
  if (run === undefined) {
    const first = firstPass(runName, upload, planner, now);
    return (await claims.begin(first)) ? createPlanHold(first, planner, deps) : 'again';
  }
  switch (decision) {
    case 'claim': {
      if (!(await claims.claim(run, upload, planner, now))) return 'again';
      const claimed = { ...run, state: 'planning' as const, pass: run.pass + 1, dataset: upload };
      return createPlanHold({ ...claimed, planner }, planner, deps);
    }
    case 'keep':
      return (await claims.keep(run, upload, now)) ? undefined : 'again';
    case 'resume':
      return 'resume';
    default:
      return undefined;
  }
}

function firstPass(runName: string, upload: Upload, planner: Planner, now: number): RunRecord {
  const at = new Date(now).toISOString();
  return {
    run_name: runName,
    state: 'planning',
    reason: '',
    pass: 1,
    dataset: upload,
    next_dataset: null,
    sequencers: { [upload.key]: upload.sequencer },
    planner,
    model: '',
    default_image: '',
    num_workers: 1,
    max_attempts: 1,
    batches_total: 0,
    batches_merged: 0,
    active: 0,
    stops_unclaimed: 0,
    merge_lease_until: 0,
    started_at: at,
    updated_at: at,
  };
}
