// Bundles the command line into one file, so that `npm ci` alone leaves `npx talaria` working.
import { chmod, readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const shared = {
  absWorkingDir: new URL('..', import.meta.url).pathname,
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
};
// Bundled CommonJS packages call require() for Node's own modules.
const REQUIRE =
  "import { createRequire as talariaRequire } from 'node:module';\nconst require = talariaRequire(import.meta.url);";
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

await build({
  ...shared,
  entryPoints: { talaria: 'src/cli/main.ts' },
  sourcemap: 'linked',
  // Loaded only by runs in containers; parts of it find their files by their own place.
  external: ['dockerode'],
  define: { TALARIA_VERSION: JSON.stringify(version) },
  banner: {
    js: `#!/usr/bin/env node\n${REQUIRE}`,
  },
});
await chmod(new URL('../dist/talaria.mjs', import.meta.url), 0o755);

// What runs inside of sandboxes, see containers/sandbox.
await build({
  ...shared,
  entryPoints: { 'sandbox-daemon': 'containers/sandbox/main.ts' },
  minify: true,
});

// What runs in the cloud's tasks, see containers/worker.
await build({
  ...shared,
  entryPoints: { worker: 'containers/worker/main.ts' },
  target: 'node22',
  banner: { js: REQUIRE },
});
