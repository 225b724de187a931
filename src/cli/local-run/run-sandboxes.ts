import type { DockerSandboxProvider } from '../../adapters/sandbox/docker/docker-sandbox.ts';
import { findShell } from '../../adapters/sandbox/find-shell.ts';
import { createProcessSandboxProvider } from '../../adapters/sandbox/process-sandbox.ts';
import { SandboxLostError, type SandboxProvider } from '../../core/ports/sandbox.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import { openContainerSandboxes } from './container-sandboxes.ts';
import type { RowSandboxes } from './pass-input.ts';

export interface RunSandboxes extends SandboxProvider, RowSandboxes {
  /** Removes what runners that died left on this machine. */
  sweep(): Promise<void>;
  /** Closes what is still open. Never throws. */
  close(): Promise<void>;
}

/** Sandboxes of a run: a container for each row with an image, and for the others as was asked. */
export function createRunSandboxes(
  config: RunConfig,
  wiring: Wiring,
  say: (line: string) => void,
): RunSandboxes {
  const path = wiring.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const shell = findShell(path);
  if (shell === undefined) throw new Error(`no bash or sh on PATH (${path}): commands need one`);
  const processes = createProcessSandboxProvider({
    root: wiring.sandboxRoot,
    memoryRoot: wiring.sandboxMemoryRoot,
    shell,
    path,
  });
  let containers: DockerSandboxProvider | undefined;
  const isContainer = (image: string) => image !== '' || config.sandbox === 'docker';
  if (config.default_image !== undefined && config.sandbox !== 'docker') {
    throw new UsageError('--default_image has no effect without --sandbox docker');
  }

  return {
    isContainer,
    async ready(rows) {
      say('containers: looking for Docker and the sandbox runtime');
      containers = await openContainerSandboxes(config, wiring, rows, say);
    },
    open(spec) {
      if (!isContainer(spec.image)) return processes.open(spec);
      if (containers === undefined) throw new SandboxLostError('no containers were made ready');
      return containers.open(spec);
    },
    async sweep() {
      await processes.sweep();
    },
    async close() {
      await Promise.all([processes.close(), containers?.close()]);
    },
  };
}
