import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockRun, RunLockedError } from '../../../src/adapters/local/run-lock.ts';

const CONTENDERS = 8;
const ROUNDS = 150;
const DEAD = { pid: 1_000_000, started: '1', host: 'here' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talaria-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Takes the lock as process `pid`; every process but the dead one lives. */
async function contend(path: string, pid: number): Promise<(() => Promise<void>) | undefined> {
  const self = { pid, started: '1', host: 'here' };
  const processStarted = async (of: number) => (of === DEAD.pid ? undefined : '1');
  try {
    return await lockRun(path, { self, processStarted });
  } catch (error) {
    if (error instanceof RunLockedError) return undefined;
    throw error;
  }
}

it('gives the lock of a dead process to one of many that want it at once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const path = join(folder, `.lock-${round}`);
    await writeFile(path, JSON.stringify(DEAD));
    const taken = await Promise.all(
      Array.from({ length: CONTENDERS }, (_, index) => contend(path, index + 1)),
    );
    const holders = taken.flatMap((release) => (release === undefined ? [] : [release]));
    expect(holders, `holders in round ${round}`).toHaveLength(1);
    await holders[0]?.();
  }
  expect(await readdir(folder)).toEqual([]);
});
