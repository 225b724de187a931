// How a run grows with its prompts: run, resume with nothing to do, and merge, for each size, by the
// built command and its rehearsal model. Writes results.json here and docs/images/growth.svg.
//   node bench/growth/growth.mjs [--sizes=1000,3000,10000,30000,100000] [--bundle=dist/talaria.mjs]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { growthPicture } from './picture.mjs';

const here = import.meta.dirname;
const { values: flags } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,3000,10000,30000,100000' },
    bundle: { type: 'string', default: resolve(here, '../../dist/talaria.mjs') },
    workers: { type: 'string', default: '16' },
    results: { type: 'string', default: join(here, 'results.json') },
    picture: { type: 'string', default: resolve(here, '../../docs/images/growth.svg') },
  },
});
const bundle = resolve(flags.bundle);
const report = {
  machine: { cpus: cpus().length, model: cpus()[0]?.model ?? '', memoryBytes: totalmem() },
  node: process.version,
  workers: Number(flags.workers),
  sizes: [],
};

for (const prompts of flags.sizes.split(',').map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-growth-'));
  try {
    await writeDataset(join(folder, 'prompts.jsonl'), prompts);
    const size = { prompts };
    size.run = await measure(folder, 'run', [
      '--dataset_file=prompts.jsonl',
      '--batch_size=10',
      '--model=rehearsal',
      `--num_workers=${flags.workers}`,
    ]);
    size.resume = await measure(folder, 'run', ['--resume']);
    size.merge = await measure(folder, 'merge', []);
    const { coverage } = JSON.parse(
      readFileSync(join(folder, 'data/growth/statistics.json'), 'utf8'),
    );
    if (coverage.completed !== prompts)
      throw new Error(`${prompts} prompts: ${JSON.stringify(coverage)}`);
    report.sizes.push(size);
    report.sizes.sort((a, b) => a.prompts - b.prompts);
    process.stderr.write(`${JSON.stringify(size)}\n`);
    writeFileSync(flags.results, `${JSON.stringify(report, null, 2)}\n`);
    writeFileSync(flags.picture, growthPicture(report));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeDataset(path, prompts) {
  const file = createWriteStream(path);
  for (let index = 0; index < prompts; index += 1) {
    const prompt = `Task ${index}: write three notes about the number ${index} and count them.`;
    if (!file.write(`${JSON.stringify({ prompt, id: index })}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

async function measure(folder, command, words) {
  const target = join(folder, 'used.json');
  const child = spawn(
    process.execPath,
    ['--import', join(here, 'probe.mjs'), bundle, command, '--run_name=growth', ...words],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      // biome-ignore lint/style/noProcessEnv: the command gets the environment of the caller
      env: { ...process.env, TALARIA_PROBE: target },
    },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-2000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with code ${code}:\n${said}`);
  // Collections at every moment would cost time: these are for the test.
  const {
    peakHeapBytes: _heap,
    peakExternalBytes: _external,
    ...used
  } = JSON.parse(readFileSync(target, 'utf8'));
  return used;
}
