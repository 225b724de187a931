// What a starter needs to plan a large dataset: node bench/cloud/starter-memory.mjs [rows] [images]
// Its planner, over a made-up dataset and ports that keep nothing, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The function has 2 GB, of which Node itself takes some. */
const HEAP_MIB = 1700;
const [rows = '1000000', images = '10000'] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
// Beside the sources, so that packages are found.
const folder = await mkdtemp(join(here, '.built-'));
try {
  const outfile = join(folder, 'plan-large.mjs');
  await build({
    entryPoints: [join(here, 'plan-large.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  for (const pass of ['1', '2']) {
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${HEAP_MIB}`,
        outfile,
        rows,
        images,
        pass,
        join(folder, 'input.jsonl'),
      ],
      { stdio: 'inherit' },
    );
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the planner of pass ${pass} ended with ${code}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
