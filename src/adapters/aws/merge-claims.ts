import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  plannerSchema,
  type RunRecord,
  runRecordSchema,
  type Upload,
} from '../../core/cloud/run-record.ts';
import type { MergeClaim, MergeEnd, MergeProgress } from '../../core/ports/merge-progress.ts';
import type { Table } from './table.ts';
import { runKey } from './table-keys.ts';
import { ifHeld } from './where-held.ts';

/** Who merges a run, and what becomes of it afterwards: one conditional write each. */
export function createMergeClaims(
  table: Table,
): Pick<MergeProgress, 'run' | 'claim' | 'end' | 'release'> {
  return {
    run: (runName) => readRun(table, runName),
    async claim(run, from, now, until) {
      const lease = { merge_lease_until: until };
      const isComplete =
        run.state === 'running' || run.state === 'cancelling'
          ? ' AND batches_merged >= batches_total'
          : '';
      const taken = await updateRun(table, run.run_name, {
        set: from === 'paused' ? lease : { ...lease, state: 'merging', merging_from: from },
        when: `#state = :state AND merge_lease_until <= :now${isComplete}`,
        values: { ':state': run.state, ':now': now },
      });
      return taken ? { runName: run.run_name, from, leaseUntil: until } : undefined;
    },
    async end(claim, now) {
      const ended = { merge_lease_until: 0, updated_at: new Date(now).toISOString() };
      switch (claim.from) {
        case 'paused':
          return (await change(table, claim, { merge_lease_until: 0 })) ? 'paused' : 'lost';
        case 'cancelling': {
          // What was uploaded before the cancel had ended is cancelled with it.
          const set = { ...ended, state: 'cancelled', next_dataset: null };
          return (await change(table, claim, set)) ? 'cancelled' : 'lost';
        }
        case 'running':
          return await endRunning(table, claim, { ...ended, reason: '' });
      }
    },
    async release(claim) {
      await change(table, claim, { merge_lease_until: 0 });
    },
  };
}

async function readRun(table: Table, runName: string): Promise<RunRecord | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: runKey(runName), ConsistentRead: true }),
  );
  return Item === undefined ? undefined : runRecordSchema.parse(Item);
}

async function endRunning(
  table: Table,
  claim: MergeClaim,
  ended: Record<string, unknown>,
): Promise<MergeEnd> {
  for (;;) {
    const run = await readRun(table, claim.runName);
    if (run?.state !== 'merging' || run.merge_lease_until !== claim.leaseUntil) return 'lost';
    const next = run.next_dataset;
    const state = next === null ? { state: 'done' } : nextPass(run, next);
    // Another dataset may have come since it was read.
    const isEnded = await change(table, claim, { ...ended, ...state }, { next_dataset: next });
    if (isEnded) return next === null ? 'done' : 'planning';
  }
}

/** The planner's lease has run out: whoever is invoked with the run takes the plan over. */
function nextPass(run: RunRecord, next: Upload): Record<string, unknown> {
  return {
    state: 'planning',
    pass: run.pass + 1,
    dataset: next,
    next_dataset: null,
    planner: plannerSchema.parse({ owner: '', lease_until: 0, tries: 0, from_state: 'done' }),
  };
}

/** Changes the run while the claim holds; false where it, or `same`, no longer does. */
async function change(
  table: Table,
  claim: MergeClaim,
  set: Record<string, unknown>,
  same?: Pick<RunRecord, 'next_dataset'>,
): Promise<boolean> {
  const isMerging = claim.from !== 'paused';
  const conditions = [
    'merge_lease_until = :lease',
    ...(isMerging ? ['#state = :merging'] : []),
    ...(same === undefined ? [] : ['next_dataset = :next']),
  ];
  return await updateRun(table, claim.runName, {
    set,
    when: conditions.join(' AND '),
    values: {
      ':lease': claim.leaseUntil,
      ...(isMerging && { ':merging': 'merging' }),
      ...(same !== undefined && { ':next': same.next_dataset }),
    },
  });
}

interface RunUpdate {
  set: Record<string, unknown>;
  when: string;
  values: Record<string, unknown>;
}

/** False where the condition does not hold. */
async function updateRun(
  table: Table,
  runName: string,
  { set, when, values }: RunUpdate,
): Promise<boolean> {
  const fields = Object.keys(set);
  const named = when.includes('#state') ? [...fields, 'state'] : fields;
  const update = new UpdateCommand({
    TableName: table.name,
    Key: runKey(runName),
    UpdateExpression: `SET ${fields.map((field) => `#${field} = :set_${field}`).join(', ')}`,
    ConditionExpression: when,
    ExpressionAttributeNames: Object.fromEntries(named.map((field) => [`#${field}`, field])),
    ExpressionAttributeValues: {
      ...values,
      ...Object.fromEntries(fields.map((field) => [`:set_${field}`, set[field]])),
    },
  });
  return await ifHeld(() => table.client.send(update));
}
