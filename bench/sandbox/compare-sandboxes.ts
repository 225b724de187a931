import { readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Docker from 'dockerode';
import { commandLatency } from './command-latency.ts';
import { idleMemory } from './idle-memory.ts';
import { openBench } from './open-bench.ts';
import { startMany } from './start-many.ts';
import { waitForSandbox } from './wait-for-sandbox.ts';

/** Runs all measures, or one, each with its sides taking turns; results go to `results.json` beside this file. */
export async function compareSandboxes({ root, here }: { root: string; here: string }) {
  const { values: flags } = parseArgs({
    options: {
      image: { type: 'string', default: 'python:3.11-slim' },
      swerex: { type: 'string' },
      only: { type: 'string' },
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
  const rounds = Number(flags.rounds);
  const sandboxes = Number(flags.sandboxes);
  const atOnce = Number(flags['at-once']);
  const measures = {
    command: () => commandLatency(bench, swerex, rounds),
    starts: () => startMany(bench, swerex, { rounds, sandboxes, atOnce }),
    wait: () => waitForSandbox(bench, rounds),
    idle: () => idleMemory(bench, swerex),
  };
  const file = join(here, 'results.json');
  try {
    for (const [name, measure] of Object.entries(measures)) {
      if (flags.only !== undefined && flags.only !== name) continue;
      const load = { load_before: loadavg()[0] };
      const result = { ...load, ...(await measure()) };
      const all = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
      await writeFile(file, `${JSON.stringify({ ...all, [name]: result }, null, 2)}\n`);
      process.stdout.write(`${name} ${JSON.stringify(result)}\n`);
    }
  } finally {
    await bench.provider.close();
  }
}
