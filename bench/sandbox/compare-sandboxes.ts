import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Docker from 'dockerode';
import { commandLatency } from './command-latency.ts';
import { idleMemory } from './idle-memory.ts';
import { openBench } from './open-bench.ts';
import { startMany } from './start-many.ts';
import { waitForSandbox } from './wait-for-sandbox.ts';

/** Runs all measures, writes `results.json` beside this file, and prints it. */
export async function compareSandboxes({ root, here }: { root: string; here: string }) {
  const { values: flags } = parseArgs({
    options: {
      image: { type: 'string', default: 'python:3.11-slim' },
      swerex: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      sandboxes: { type: 'string', default: '100' },
      'at-once': { type: 'string', default: '8' },
    },
  });
  const docker = new Docker();
  const bench = await openBench({ docker, root, image: flags.image });
  const swerex =
    flags.swerex === undefined
      ? undefined
      : { python: flags.swerex, script: join(here, 'swe-rex-calls.py'), image: flags.image };
  const sizes = {
    rounds: Number(flags.rounds),
    sandboxes: Number(flags.sandboxes),
    atOnce: Number(flags['at-once']),
  };
  try {
    const results = {
      ...sizes,
      command: await commandLatency(bench, swerex, sizes.rounds),
      starts: await startMany(bench, swerex, sizes),
      wait: await waitForSandbox(bench, sizes.rounds),
      idle: await idleMemory(bench, swerex),
    };
    const text = `${JSON.stringify(results, null, 2)}\n`;
    await writeFile(join(here, 'results.json'), text);
    process.stdout.write(text);
  } finally {
    await bench.provider.close();
  }
}
