// Makes docs/tools.md: our tools beside Hermes' own on the same calls.
// TALARIA_HERMES_PYTHON=<venv>/bin/python node bench/tools/compare.mjs
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
// biome-ignore lint/style/noProcessEnv: a bench script is its own wiring
const python = process.env['TALARIA_HERMES_PYTHON'];
if (python === undefined) {
  throw new Error('TALARIA_HERMES_PYTHON: expected the python of a venv with hermes-agent==0.19.0');
}
// Beside the sources, so that packages are found.
const folder = await mkdtemp(join(here, '.built-'));
try {
  const outfile = join(folder, 'compare-tools.mjs');
  await build({
    entryPoints: [join(here, 'compare-tools.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const { compareTools } = await import(pathToFileURL(outfile).href);
  const page = fileURLToPath(new URL('../../docs/tools.md', import.meta.url));
  await compareTools({ python, script: join(here, 'hermes-calls.py'), page });
} finally {
  await rm(folder, { recursive: true, force: true });
}
