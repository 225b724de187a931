// Runs infra/app.ts for the CDK's command line, on a Node that takes no TypeScript.
import { build } from 'esbuild';

const outfile = new URL('../node_modules/.cache/talaria/app.mjs', import.meta.url);
await build({
  absWorkingDir: new URL('..', import.meta.url).pathname,
  entryPoints: ['infra/app.ts'],
  outfile: outfile.pathname,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
await import(outfile.href);
