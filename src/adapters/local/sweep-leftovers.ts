import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunFolder } from './run-folder.ts';
import { takeoverGuard } from './run-lock.ts';

/** The folder beside the run's in which a process reads the dataset before it has the run. */
export function stagingFolder(outputDir: string, runName: string, pid: number): string {
  return join(outputDir, `.${runName}.staging-${pid}`);
}

/**
 * Removes what killed processes left of files that they were making. Call it holding the run's
 * lock: what a living process has not finished yet is its own, or it has no business here.
 */
export async function sweepLeftovers(
  folder: RunFolder,
  processStarted: (pid: number) => Promise<string | undefined>,
): Promise<void> {
  const isDead = async (pid: string) => (await processStarted(Number(pid))) === undefined;
  for (const name of await readdir(folder.path)) {
    const [, pid] = /^\.lock\.(\d+)(?:\..*)?$/.exec(name) ?? [];
    const left = pid === undefined ? name.endsWith('.tmp') : await isDead(pid);
    if (left) await rm(folder.file(name), { force: true });
  }
  await rm(takeoverGuard(folder.lock), { force: true });
  const outputDir = dirname(folder.path);
  const staging = basename(stagingFolder(outputDir, basename(folder.path), 0)).slice(0, -1);
  for (const name of await readdir(outputDir)) {
    const pid = name.startsWith(staging) ? name.slice(staging.length) : '';
    if (!/^\d+$/.test(pid) || !(await isDead(pid))) continue;
    await rm(join(outputDir, name), { recursive: true, force: true });
  }
}
