import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { gunzip } from '../../src/adapters/local/gunzip.ts';
import type { BatchRecord } from '../../src/core/cloud/batch-record.ts';
import { createPlanHold } from '../../src/core/cloud/plan/plan-hold.ts';
import { type PlanDeps, planPass } from '../../src/core/cloud/plan/plan-pass.ts';
import type { Planner, RunRecord } from '../../src/core/cloud/run-record.ts';
import type { PassClaims } from '../../src/core/ports/pass-claims.ts';
import type { PassFiles } from '../../src/core/ports/pass-files.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';

const [rowsText = '', imagesText = '', passText = '', inputPath = ''] = process.argv.slice(2);
const rows = Number(rowsText);
const images = Number(imagesText);
const pass = Number(passText);

const MIB = 1024 ** 2;
const PROMPT = 'Find what is wrong with the program in this folder, mend it, and say why. '.repeat(
  8,
);
const seen = { batches: 0, prompts: 0, messages: 0 };

/** Images in turn: each has its batch open nearly all the time. */
async function* dataset(): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const image = `registry.example/team/image-${row % images}:latest`;
    lines.push(JSON.stringify({ prompt: `${row}: ${PROMPT}`, image, level: row % 7 }), '\n');
    if (lines.length < 20_000) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  yield Buffer.from(lines.join(''));
}

function batchOf(batch: number): BatchRecord {
  const hash = createHash('sha256').update(String(batch)).digest('hex');
  return {
    run_name: 'large',
    batch,
    pass,
    state: 'waiting',
    image: `registry.example/team/image-${batch % images}:latest`,
    prompts: Array.from({ length: 8 }, (_, at) => ({
      index: batch * 8 + at,
      sample: 0,
      hash,
      occurrence: at,
      offset: batch * 5000 + at * 600,
      length: 600,
      attempts_before: 0,
    })),
    remaining: 8,
    unfinished: 0,
    launch: 0,
    lease_until: 0,
    task_arn: '',
    spot: false,
    unclaimed: 0,
    starts: {},
    careful: false,
    queued_at: 0,
    closed_at: 0,
  };
}

const yes = async () => true;
const claims: PassClaims = {
  read: async () => undefined,
  begin: yes,
  claim: yes,
  keep: yes,
  take: yes,
  renew: yes,
  start: yes,
  finish: yes,
  refuse: yes,
};

const files: PassFiles = {
  versionOf: async () => undefined,
  dataset,
  input: () => createReadStream(inputPath, { highWaterMark: 8 * MIB }),
  openInput() {
    const stream = createWriteStream(inputPath);
    return {
      async write(bytes) {
        await new Promise((resolve) => stream.write(bytes, resolve));
      },
      close: () => new Promise<void>((resolve) => stream.end(resolve)),
      abort: async () => undefined,
    };
  },
  text: async () => undefined,
  put: async () => undefined,
  replace: yes,
  remove: async () => undefined,
};

/** As a call to the service would: not before the next turn. */
const answered = () => new Promise<void>((resolve) => setImmediate(resolve));

const deps: PlanDeps = {
  claims,
  files,
  planned: {
    async put(batch) {
      await answered();
      seen.batches += 1;
      seen.prompts += batch.prompts.length;
      return true;
    },
    removeFrom: async () => undefined,
  },
  batches: {
    open: async () => [],
    attempts: async () => [],
    close: yes,
    read: async (ids) => ids.map(({ batch }) => batchOf(batch)),
    async queue() {
      await answered();
      return true;
    },
  },
  queue: {
    async send(messages) {
      await answered();
      seen.messages += messages.length;
      return [];
    },
  },
  outcomes: () => ({
    note: async () => undefined,
    async of(prompts) {
      await answered();
      // A half of them is done.
      return prompts.map(({ hash }) =>
        hash < '8' ? { outcome: 'completed' as const, attempt: 1 } : undefined,
      );
    },
  }),
  objects: () => ({ samples: async () => [], sample: () => Promise.reject(new Error('none')) }),
  gunzip,
  sha256() {
    const hash = createHash('sha256');
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  },
  sha256Hex: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  standardConfig: JSON.stringify({ batch_size: 8, model: 'rehearsal' }),
  tools: BUILTIN_TOOLS,
  talaria: 'bench',
  node: process.version,
  now: Date.now,
  remainingMs: () => 900_000,
  log: () => undefined,
  nudgeDispatcher: async () => undefined,
  mergeRun: async () => undefined,
};

const planner: Planner = {
  owner: 'bench',
  lease_until: 0,
  tries: 1,
  problem: '',
  claimed_at: Date.now(),
  from_state: null,
  first_batch: 0,
  batches_put: 0,
};
const at = new Date().toISOString();
const key = 'datasets/large/d.jsonl';
const run: RunRecord = {
  run_name: 'large',
  state: 'planning',
  reason: '',
  pass,
  dataset: { key, version_id: '1', sequencer: '1', config_version_id: '' },
  next_dataset: null,
  sequencers: {},
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

const begun = performance.now();
await planPass(createPlanHold(run, planner, deps), deps);
const seconds = (performance.now() - begun) / 1000;
const peak = process.resourceUsage().maxRSS / 1024;
process.stdout.write(
  `pass ${pass}: ${rows} rows, ${images} images: ${seen.batches} batches of ${seen.prompts} prompts, ${seen.messages} messages in ${seconds.toFixed(0)} s; peak RSS ${peak.toFixed(0)} MiB\n`,
);
