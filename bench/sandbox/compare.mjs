// Sandboxes in containers beside plain docker and SWE-ReX, in one run. Usage: see ../README.md.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
// Beside the sources, so that packages are found.
const folder = await mkdtemp(join(here, '.built-'));
try {
  const outfile = join(folder, 'compare-sandboxes.mjs');
  await build({
    entryPoints: [join(here, 'compare-sandboxes.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const { compareSandboxes } = await import(pathToFileURL(outfile).href);
  await compareSandboxes({ root: fileURLToPath(new URL('../..', import.meta.url)), here });
} finally {
  await rm(folder, { recursive: true, force: true });
}
