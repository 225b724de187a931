import type { Command } from 'commander';
import { sweepContainers } from '../../adapters/sandbox/docker/container-labels.ts';
import { createSandboxOwner, type SandboxOwner } from '../../adapters/sandbox/sandbox-owner.ts';
import { sweepDeadOwners } from '../../adapters/sandbox/sweep-sandboxes.ts';
import { formatNumberOf, oneSafeLine } from '../terminal/format.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { Wiring } from '../wiring.ts';

const DOCKER_TIMEOUT_MS = 30_000;

const NOTES = `
A run removes its sandboxes itself. One that was killed (kill -9, no memory, a
power cut) can't: its folders, processes and containers stay until the next run
starts or this is called. Removed are
  - folders in $TMPDIR/talaria-<uid> and /dev/shm/talaria-<uid>, and processes,
    whose run is no longer there;
  - containers with the label talaria.owner whose run was on this machine and is
    no longer there, or whose time, in the label talaria.expires, is over.
Sandboxes of runs that go on are left alone, so it may be called at any time:
  talaria sandbox sweep
Containers stay where no Docker daemon answers; DOCKER_HOST names another one.

Exit codes: 0 all that was left is gone, 1 some of it can't be removed,
2 wrong use.`;

export function addSandbox(program: Command, wiring: Wiring): void {
  const group = program
    .command('sandbox')
    .description('Look after the sandboxes of this machine.')
    .action(() => group.outputHelp());
  group
    .command('sweep')
    .description('Remove what runs that died have left: folders, processes, containers.')
    .option('--json', 'print the numbers as one JSON object on standard output')
    .addHelpText('after', NOTES)
    .action(async ({ json }: { json?: boolean }) => {
      const swept = await sweep(wiring);
      if (json === true) wiring.stdout.write(`${JSON.stringify(swept)}\n`);
      else {
        const { line } = openTerminal(wiring.stdout, wiring.env);
        for (const text of sweptLines(swept)) line(text);
      }
      if (swept.stuck.length > 0) process.exitCode = 1;
    });
}

interface SweptAll {
  folders: number;
  processes: number;
  /** Null where no Docker daemon answered; why is in `docker_error`. */
  containers: number | null;
  docker_error: string | null;
  /** What could not be removed. */
  stuck: string[];
}

async function sweep({ sandboxRoot, sandboxMemoryRoot }: Wiring): Promise<SweptAll> {
  const owner = await createSandboxOwner();
  const [{ stuck, ...numbers }, ofDocker] = await Promise.all([
    sweepDeadOwners([sandboxRoot, sandboxMemoryRoot ?? sandboxRoot], owner),
    sweepDocker(owner),
  ]);
  if ('error' in ofDocker) {
    return { ...numbers, containers: null, docker_error: ofDocker.error, stuck };
  }
  const all = [...stuck, ...ofDocker.stuck];
  return { ...numbers, containers: ofDocker.removed, docker_error: null, stuck: all };
}

async function sweepDocker(owner: SandboxOwner) {
  const { default: Docker } = await import('dockerode');
  try {
    return await sweepContainers(new Docker({ timeout: DOCKER_TIMEOUT_MS }), owner);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function sweptLines({ folders, processes, containers, docker_error, stuck }: SweptAll): string[] {
  return [
    `removed: ${formatNumberOf(folders, 'folder')}, ${formatNumberOf(processes, 'process', 'processes')}, ${formatNumberOf(containers ?? 0, 'container')}`,
    ...(docker_error === null
      ? []
      : [
          `no Docker daemon answers, containers are as they were: ${oneSafeLine(docker_error, 300)}`,
        ]),
    ...stuck.map((what) => `can't be removed: ${oneSafeLine(what, 500)}`),
  ];
}
