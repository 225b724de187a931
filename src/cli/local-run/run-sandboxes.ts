import { findShell } from '../../adapters/sandbox/find-shell.ts';
import { createProcessSandboxProvider } from '../../adapters/sandbox/process-sandbox.ts';
import {
  SandboxLostError,
  type SandboxProvider,
  type SandboxSpec,
} from '../../core/ports/sandbox.ts';
import type { ImagePin } from '../../core/run/manifest.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import type { RowSandboxes } from './check-rows.ts';
import {
  type ContainerIo,
  type ContainerSandboxes,
  openContainerSandboxes,
} from './container-sandboxes.ts';

export interface RunSandboxes extends SandboxProvider, RowSandboxes {
  /** What images are pinned to, by the name that rows give them; all that there are once ready. */
  readonly pins: ReadonlyMap<string, ImagePin>;
  /** The pin of what a row with this image, or "", runs in, or its name where it can't be had. */
  pinOf(image: string): string;
  /** How many prompts ahead it is of use to know. */
  readonly reach: number;
  /** Says what will be opened, in that order, so that containers may start ahead of their prompts. */
  expect(spec: SandboxSpec): void;
  /** Removes what runners that died left on this machine. */
  sweep(): Promise<void>;
  /** Closes what is still open. Never throws. */
  close(): Promise<void>;
}

/** Sandboxes of a run: a container for each row with an image, and for the others as was asked. */
export function createRunSandboxes(
  config: RunConfig,
  wiring: Wiring,
  io: ContainerIo,
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
  let containers: ContainerSandboxes | undefined;
  const isContainer = (image: string) => image !== '' || config.sandbox === 'docker';
  if (config.default_image !== undefined && config.sandbox !== 'docker') {
    throw new UsageError('--default_image has no effect without --sandbox docker');
  }

  return {
    isContainer,
    async ready(rows) {
      io.terminal.line('containers: looking for Docker and the sandbox runtime');
      containers = await openContainerSandboxes(config, wiring, rows, io);
    },
    get pins() {
      return containers?.pins ?? io.pins;
    },
    pinOf(image) {
      if (!isContainer(image)) return '';
      const name = image === '' ? (config.default_image ?? '') : image;
      return containers?.pins.get(name)?.pin ?? name;
    },
    get reach() {
      return containers === undefined ? 0 : config.num_workers;
    },
    expect(spec) {
      if (isContainer(spec.image)) containers?.provider.expect(spec);
    },
    open(spec) {
      if (!isContainer(spec.image)) return processes.open(spec);
      if (containers === undefined) throw new SandboxLostError('no containers were made ready');
      return containers.provider.open(spec);
    },
    async sweep() {
      await processes.sweep();
    },
    async close() {
      await Promise.all([processes.close(), containers?.provider.close()]);
    },
  };
}
