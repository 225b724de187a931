import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findShell } from '../../src/adapters/sandbox/find-shell.ts';
import {
  createProcessSandboxProvider,
  type ProcessSandboxProvider,
} from '../../src/adapters/sandbox/process-sandbox.ts';

export const COMMAND_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A process sandbox provider in a root of its own; `dispose` closes it and removes the root. */
export async function makeProcessProvider(
  shell = findShell(COMMAND_PATH),
  path = COMMAND_PATH,
): Promise<{
  provider: ProcessSandboxProvider;
  root: string;
  dispose(): Promise<void>;
}> {
  if (shell === undefined) throw new Error(`no shell in ${COMMAND_PATH}`);
  const root = await mkdtemp(join(tmpdir(), 'talaria-test-'));
  const memoryRoot = await mkdtemp(join(tmpdir(), 'talaria-test-memory-'));
  const provider = createProcessSandboxProvider({ root, memoryRoot, shell, path });
  return {
    provider,
    root,
    async dispose() {
      await provider.close();
      await rm(root, { recursive: true, force: true });
      await rm(memoryRoot, { recursive: true, force: true });
    },
  };
}
