// Talaria beside its peers on the same work, in one run: N prompts, three model calls of L ms and two
// shell commands each, a model server on loopback. Usage: see ../README.md.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    kit: { type: 'string' },
    peers: { type: 'string' },
    out: { type: 'string', default: 'bench-out' },
    rounds: { type: 'string', default: '3' },
    prompts: { type: 'string', default: '2000' },
    'peer-prompts': { type: 'string', default: '200' },
    latency: { type: 'string', default: '200' },
    only: { type: 'string' },
  },
});
if (flags.kit === undefined) {
  throw new Error('--kit: expected the folder with model-server.mjs, measure.py and floor.mjs');
}
const kit = resolve(flags.kit);
const peers = flags.peers === undefined ? undefined : resolve(flags.peers);
const out = resolve(flags.out);
const talaria = resolve(import.meta.dirname, '../../dist/talaria.mjs');
const port = 8901;
const base = `http://127.0.0.1:${port}/v1`;
const many = Number(flags.prompts);
const few = Number(flags['peer-prompts']);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeDataset('many.jsonl', many);
writeDataset('few.jsonl', few);

function writeDataset(name, count) {
  const prompt = (index) =>
    `Task ${index}: print hi twice with the shell and then say you are done.`;
  const rows = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ prompt: prompt(index) }),
  );
  writeFileSync(join(out, name), `${rows.join('\n')}\n`);
}

/** Each side: a label, how many prompts, the command of round r, more environment. */
const sides = [
  {
    label: 'Talaria, 100 workers, batches of 10',
    n: many,
    command: (round) => [
      process.execPath,
      talaria,
      'run',
      '--dataset_file=many.jsonl',
      '--batch_size=10',
      `--run_name=r${round}`,
      '--model=mock/model',
      `--base_url=${base}`,
      '--num_workers=100',
      '--toolsets=terminal',
    ],
  },
  {
    label: 'floor.mjs, 100 at once',
    n: many,
    command: () => [process.execPath, join(kit, 'floor.mjs'), String(many), '100'],
  },
  ...(peers === undefined
    ? []
    : [
        {
          label: 'Hermes, 8 workers, batches of 1 (its best)',
          n: few,
          env: { TERMINAL_ENV: 'local', HERMES_YOLO_MODE: '1', HOME: out },
          command: (round) => [
            join(peers, 'hermes/bin/python'),
            '-m',
            'batch_runner',
            '--dataset_file=few.jsonl',
            '--batch_size=1',
            `--run_name=h${round}`,
            `--base_url=${base}`,
            '--api_key=x',
            '--model=mock/model',
            '--num_workers=8',
          ],
        },
        {
          label: 'Inspect, generate loop, 100 connections',
          n: few,
          env: { MOCK_API_KEY: 'x', MOCK_BASE_URL: base },
          command: () => [
            join(peers, 'inspect/bin/inspect'),
            'eval',
            `${join(kit, 'inspect_task.py')}@loop`,
            '-T',
            `n=${few}`,
            '--model',
            'openai-api/mock/mock-model',
            '--max-connections',
            '100',
            '--max-samples',
            '100',
            '--max-subprocesses',
            '2',
            '--display',
            'plain',
            '--no-score',
          ],
        },
        {
          label: 'mini-swe-agent, 32 threads',
          n: few,
          env: { BASE: base, HOME: out },
          command: (round) => [
            join(peers, 'mini/bin/python'),
            join(kit, 'mini_batch.py'),
            String(few),
            '32',
            `mini${round}`,
          ],
        },
      ]),
].filter(({ label }) => flags.only === undefined || label.toLowerCase().includes(flags.only));

// biome-ignore lint/style/noProcessEnv: a bench script is its own wiring
const environment = process.env;
const server = spawn(process.execPath, [join(kit, 'model-server.mjs')], {
  env: { ...environment, PORT: String(port), L: flags.latency },
  stdio: 'ignore',
});
const results = [];
try {
  await new Promise((done) => setTimeout(done, 1000));
  // Side by side: every round runs every side, so that a slow minute of the machine hits all alike.
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    for (const side of sides) {
      const row = measure(side, round);
      results.push({ side: side.label, round, ...row });
      process.stderr.write(
        `${side.label}: ${row.tps} trajectories/s, ${row.cpu_per_traj_ms} ms CPU each\n`,
      );
    }
  }
} finally {
  server.kill();
}
writeFileSync(join(out, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
process.stdout.write(`${table().join('\n')}\n`);

function measure(side, round) {
  const file = join(out, 'measured.jsonl');
  rmSync(file, { force: true });
  const command = ['measure.py', 'x', String(side.n), '--', ...side.command(round)];
  const done = spawnSync('python3', [join(kit, command[0]), ...command.slice(1)], {
    cwd: out,
    env: {
      ...environment,
      ...side.env,
      L: flags.latency,
      MOCK: `http://127.0.0.1:${port}`,
      RESULTS: file,
      LOG: join(out, 'last.log'),
    },
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`${side.label}: ${done.stderr}`);
  const row = JSON.parse(readFileSync(file, 'utf8').trim());
  if (row.chat < side.n * 3) {
    throw new Error(
      `${side.label}: expected ${side.n * 3} model calls, got ${row.chat}; see ${join(out, 'last.log')}`,
    );
  }
  return row;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function table() {
  const of = (label, key) =>
    median(results.filter((row) => row.side === label).map((row) => row[key]));
  const [ours] = sides;
  const lines = sides.map(({ label, n }) => {
    const ratio = (key, up) => {
      const value = up
        ? of(ours.label, key) / of(label, key)
        : of(label, key) / of(ours.label, key);
      return label === ours.label ? '1' : `${value.toFixed(value < 10 ? 2 : 0)}`;
    };
    return `| ${label} | ${n} | ${of(label, 'tps')} | ${ratio('tps', true)} | ${of(label, 'cpu_per_traj_ms')} | ${ratio('cpu_per_traj_ms', false)} | ${of(label, 'first_req')} | ${of(label, 'pss_mib')} |`;
  });
  return [
    '| runner | prompts | trajectories/s | Talaria is faster by | CPU a trajectory (ms) | Talaria needs less by | first request (s) | peak PSS (MiB) |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ];
}
