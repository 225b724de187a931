// How fast a run's files are built again: makes a run of N rows in batches of 10, each row of about the
// given size, as a real run leaves it, and times `talaria merge` on it. Usage: see ../README.md.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: 'bench-out' },
    rows: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '22000' },
    rounds: { type: 'string', default: '3' },
    /** The Python that has Hermes installed: its own joining is timed in turn with ours. */
    hermes: { type: 'string' },
  },
});
const rows = Number(flags.rows);
const talaria = resolve(import.meta.dirname, '../../dist/talaria.mjs');
const out = resolve(flags.out);
const folder = join(out, 'data/merge');
rmSync(folder, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

// One real prompt gives the shape of row, ledger entry and run.json; the others are its copies.
const prompt = (index) => `Task ${index}`;
writeFileSync(join(out, 'one.jsonl'), `${JSON.stringify({ prompt: prompt(0) })}\n`);
run([
  'run',
  '--dataset_file=one.jsonl',
  '--batch_size=10',
  '--run_name=merge',
  '--model=rehearsal',
]);
const row = JSON.parse(readFileSync(join(folder, 'batch_0.jsonl'), 'utf8'));
const entry = JSON.parse(readFileSync(join(folder, 'ledger.jsonl'), 'utf8'));
const file = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
row.conversations.at(-1).value = 'x'.repeat(
  Math.max(0, Number(flags.bytes) - JSON.stringify(row).length),
);

const input = [];
const ledger = [];
for (let batch = 0; batch < rows / 10; batch += 1) {
  const lines = [];
  for (let index = batch * 10; index < batch * 10 + 10; index += 1) {
    const text = prompt(index);
    const hash = createHash('sha256')
      .update(JSON.stringify([text, '', '']))
      .digest('hex');
    const id = `${hash}-0`;
    input.push(JSON.stringify({ prompt: text }));
    const metadata = { ...row.metadata, prompt_id: id, batch_num: batch };
    lines.push(JSON.stringify({ ...row, prompt_index: index, metadata }));
    ledger.push(JSON.stringify({ ...entry, prompt_id: id, prompt_index: index, batch }));
  }
  writeFileSync(join(folder, `batch_${batch}.jsonl`), `${lines.join('\n')}\n`);
}
writeFileSync(join(folder, 'ledger.jsonl'), `${ledger.join('\n')}\n`);
writeFileSync(join(folder, 'passes/1/input.jsonl'), `${input.join('\n')}\n`);
file.passes[0].rows = rows;
writeFileSync(join(folder, 'run.json'), JSON.stringify(file));

for (let round = 0; round < Number(flags.rounds); round += 1) {
  const from = performance.now();
  const { files } = JSON.parse(run(['merge', '--run_name=merge', '--json']));
  say('talaria', files.trajectories.bytes, (performance.now() - from) / 1000);
  if (flags.hermes === undefined) continue;
  const loop = resolve(import.meta.dirname, 'hermes-merge.py');
  const hermes = spawnSync(flags.hermes, [loop, folder], { encoding: 'utf8' });
  if (hermes.status !== 0) throw new Error(`Hermes ended with ${hermes.status}: ${hermes.stderr}`);
  const { bytes, seconds } = JSON.parse(hermes.stdout);
  say('hermes', bytes, seconds);
}
rmSync(folder, { recursive: true, force: true });

function say(name, bytes, seconds) {
  const rate = (bytes / 1e6 / seconds).toFixed(0);
  process.stdout.write(
    `${name}: ${rows} rows, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s: ${rate} MB/s\n`,
  );
}

function run(words) {
  const done = spawnSync(process.execPath, [talaria, ...words], {
    cwd: out,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (done.status !== 0)
    throw new Error(`talaria ${words[0]} ended with ${done.status}: ${done.stderr}`);
  return done.stdout;
}
