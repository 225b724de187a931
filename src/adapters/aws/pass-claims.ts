import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  CLAIMABLE_STATES,
  type Planner,
  type RunRecord,
  runRecordSchema,
  type Upload,
} from '../../core/cloud/run-record.ts';
import type { PassClaims } from '../../core/ports/pass-claims.ts';
import type { Table } from './table.ts';
import { RUNS_PK, runKey } from './table-keys.ts';
import { whereHeld } from './where-held.ts';

/** Claims of passes as the run items of the table have them. */
export function createPassClaims(table: Table): PassClaims {
  const { client, name: TableName } = table;
  const change = (run: string, of: RunChange) => changeRun(table, run, of);
  return {
    async read(run) {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: runKey(run), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : runRecordSchema.parse(Item);
    },
    begin: (run) =>
      whereHeld(() =>
        client.send(
          new PutCommand({
            TableName,
            Item: { ...runKey(run.run_name), ...run, runs_pk: RUNS_PK },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        ),
      ),
    claim: (read, upload, planner, now) =>
      change(read.run_name, {
        set: { ...nextPass(read, upload, planner), updated_at: iso(now) },
        sequencer: upload,
        when: ['#state = :read_state', '#pass = :read_pass', sequencerIs(read, upload)],
        values: {
          ':read_state': read.state,
          ':read_pass': read.pass,
          ...lastSequencer(read, upload),
        },
      }),
    keep: (read, upload, now) =>
      change(read.run_name, {
        set: { next_dataset: upload, updated_at: iso(now) },
        sequencer: upload,
        // Busy in one way or another: only an ended run would not come to it.
        when: [
          `NOT #state IN (${CLAIMABLE_STATES.map((_, at) => `:claimable${at}`).join(', ')})`,
          sequencerIs(read, upload),
        ],
        values: {
          ...Object.fromEntries(CLAIMABLE_STATES.map((state, at) => [`:claimable${at}`, state])),
          ...lastSequencer(read, upload),
        },
      }),
    take: (read, planner) =>
      change(read.run_name, {
        set: { planner },
        when: [
          '#state = :read_state',
          '#pass = :read_pass',
          'planner.#owner = :owner AND planner.lease_until = :until',
        ],
        values: {
          ':read_state': read.state,
          ':read_pass': read.pass,
          ':owner': read.planner?.owner ?? '',
          ':until': read.planner?.lease_until ?? 0,
        },
      }),
    renew: (run, planner) =>
      change(run, { set: { planner }, when: [OWNED, PLANNED], values: ownerOf(planner) }),
    start: (run, planner, of, now) =>
      change(run, {
        set: {
          state: 'running',
          reason: '',
          planner,
          batches_total: of.batchesTotal,
          num_workers: of.numWorkers,
          max_attempts: of.maxAttempts,
          model: of.model,
          default_image: of.defaultImage,
          stops_unclaimed: 0,
          updated_at: iso(now),
        },
        when: [OWNED, '#state = :planning'],
        values: { ...owner(planner), ':planning': 'planning' },
      }),
    finish: (run, planner) =>
      change(run, { set: { planner: null }, when: [OWNED], values: owner(planner) }),
    refuse(read, planner, { state, reason, now }) {
      const next = read.next_dataset;
      const end = {
        ...(next === null
          ? { state, planner: null }
          : nextPass(read, next, { ...NOBODY, from_state: state })),
        ...(reason !== undefined && { reason }),
        updated_at: iso(now),
      };
      return change(read.run_name, {
        set: end,
        // Another dataset may have come since it was read.
        when: [OWNED, '#state = :planning', 'next_dataset = :next'],
        values: { ...owner(planner), ':planning': 'planning', ':next': next },
      });
    },
  };
}

/** Lets whoever comes take the plan. */
const NOBODY: Planner = {
  owner: '',
  lease_until: 0,
  tries: 0,
  problem: '',
  claimed_at: 0,
  from_state: null,
  first_batch: 0,
  batches_put: 0,
};

const OWNED = 'planner.#owner = :owner';
const PLANNED = '#state IN (:planning, :running)';

const owner = (planner: Planner) => ({ ':owner': planner.owner });
const ownerOf = (planner: Planner) => ({
  ...owner(planner),
  ':planning': 'planning',
  ':running': 'running',
});
const iso = (now: number) => new Date(now).toISOString();

function nextPass(read: RunRecord, dataset: Upload, planner: Planner): Record<string, unknown> {
  return { state: 'planning', pass: read.pass + 1, dataset, next_dataset: null, planner };
}

function sequencerIs(read: RunRecord, { key }: Upload): string {
  return Object.hasOwn(read.sequencers, key)
    ? 'sequencers.#key = :sequencer'
    : 'attribute_not_exists(sequencers.#key)';
}

function lastSequencer(read: RunRecord, { key }: Upload): Record<string, string> {
  const last = Object.hasOwn(read.sequencers, key) ? read.sequencers[key] : undefined;
  return last === undefined ? {} : { ':sequencer': last };
}

interface RunChange {
  set: Record<string, unknown>;
  /** Its sequencer is the last one of its key. */
  sequencer?: Upload;
  when: string[];
  values: Record<string, unknown>;
}

/** One conditional write; false where a condition does not hold. */
async function changeRun(table: Table, run: string, of: RunChange): Promise<boolean> {
  const { set, sequencer, when, values } = of;
  const condition = when.join(' AND ');
  const sets = Object.keys(set).map((field) => `#${field} = :set_${field}`);
  if (sequencer !== undefined) sets.push('sequencers.#key = :set_sequencer');
  const names: Record<string, string> = Object.fromEntries(
    Object.keys(set).map((field) => [`#${field}`, field]),
  );
  for (const name of ['state', 'pass', 'owner']) {
    if (condition.includes(`#${name}`)) names[`#${name}`] = name;
  }
  if (sequencer !== undefined) names['#key'] = sequencer.key;
  return await whereHeld(() =>
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: runKey(run),
        UpdateExpression: `SET ${sets.join(', ')}`,
        ConditionExpression: condition,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: {
          ...values,
          ...Object.fromEntries(Object.entries(set).map(([field, to]) => [`:set_${field}`, to])),
          ...(sequencer !== undefined && { ':set_sequencer': sequencer.sequencer }),
        },
      }),
    ),
  );
}
