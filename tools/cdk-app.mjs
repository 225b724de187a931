// Runs infra/app.ts for the CDK's command line, on a Node that takes no TypeScript.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

// Of this process: deployments may run side by side. In the tree, so that packages are found.
const outfile = new URL(`../node_modules/.cache/talaria/app-${process.pid}.mjs`, import.meta.url);
try {
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
} catch (error) {
  // Settings that are wrong are told in words; where they were found out is no help.
  process.stderr.write(`${error.name === 'SettingsError' ? error.message : error.stack}\n`);
  process.exitCode = 1;
} finally {
  await rm(outfile, { force: true });
}
