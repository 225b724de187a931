import { readFile } from 'node:fs/promises';
import type Docker from 'dockerode';
import { type Bench, commandOf, nextSpec } from './open-bench.ts';
import { holdSweRex, type SweRex } from './swe-rex.ts';
import { round, summary } from './timing.ts';

const HELD = 8;
const IDLE_MS = 3_000;

/** MiB of containers that have run one command and wait: what is charged to each, and its PSS. */
export async function idleMemory({ docker, provider }: Bench, swerex: SweRex | undefined) {
  const sandboxes = await Promise.all(
    Array.from({ length: HELD }, () => provider.open(nextSpec())),
  );
  for (const sandbox of sandboxes) await sandbox.run(commandOf('echo hi'));
  const talaria = await measured(docker, { label: ['talaria.run=bench'] });
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  if (swerex === undefined) return { talaria };
  const release = await holdSweRex(swerex, HELD);
  const theirs = await measured(docker, { ancestor: [swerex.image] });
  await release();
  return { talaria, swe_rex: theirs };
}

async function measured(docker: Docker, filters: Record<string, string[]>) {
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const all = await docker.listContainers({ filters });
  const each = await Promise.all(all.map(({ Id }) => memoryOf(docker.getContainer(Id))));
  return {
    charged: summary(each.map(({ charged }) => charged)),
    pss: summary(each.map(({ pss }) => pss)),
  };
}

async function memoryOf(container: Docker.Container) {
  const { memory_stats: memory } = await container.stats({ stream: false });
  const { Processes: processes } = await container.top({ ps_args: '-eo pid' });
  const sizes = await Promise.all(processes.map(([pid]: string[]) => pssOf(pid ?? '')));
  return {
    charged: round(memory.usage / 1024 / 1024),
    pss: round(sizes.reduce((sum, size) => sum + size, 0) / 1024),
  };
}

/** In KiB. */
async function pssOf(pid: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
}
