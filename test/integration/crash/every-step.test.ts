import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelServer } from '../../support/model-server.ts';
import { expectSound, type StoredRun } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { expectSameRows } from './same-rows.ts';
import { startScriptedProvider } from './scripted-provider.ts';

const PROMPTS = ['first', 'thoughtless second', 'third'];
const AT_ONCE = 3;

let provider: ModelServer;
let workshop: Workshop;
let undisturbed: StoredRun;

beforeAll(async () => {
  provider = await startScriptedProvider();
  workshop = await makeWorkshop();
  await workshop.dataset(PROMPTS);
});
afterAll(async () => {
  await workshop.dispose();
  await provider.close();
});

function flags(runName: string): Flags {
  const model = { model: 'test/model', base_url: provider.baseUrl, toolsets: 'terminal' };
  return { ...model, run_name: runName, num_workers: 2, ephemeral_system_prompt: 'Be brief.' };
}

/** The steps of a run that change files, in the order of one undisturbed process. */
async function stepsOf(runName: string, more: Flags = {}): Promise<string[]> {
  const trace = join(workshop.path, `${runName}.trace`);
  const end = await workshop.run({ ...flags(runName), ...more }, { killStep: { trace } });
  expect(end).toMatchObject({ code: 0 });
  return readFileSync(trace, 'utf8').trim().split('\n');
}

/** Calls `work` with 1 to `count`, a few at a time. */
async function forEachStep(count: number, work: (step: number) => Promise<void>): Promise<void> {
  let next = 1;
  const worker = async () => {
    while (next <= count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describe('kill -9 before a step that changes files', () => {
  it('loses nothing and doubles nothing, whichever step of a run it is', {
    timeout: 240_000,
  }, async () => {
    const steps = await stepsOf('undisturbed');
    undisturbed = expectSound(workshop.folder('undisturbed'));
    let kills = 0;
    await forEachStep(steps.length, async (at) => {
      const name = `step-${at}`;
      const killed = await workshop.run(flags(name), { killStep: { at } });
      // Steps of two prompts may come in another order or number: the last ones may be missing.
      if (killed.signal === 'SIGKILL') kills += 1;
      const resumed = await workshop.run({ ...flags(name), resume: true });
      expect(resumed, `after a kill before step ${at}, about ${steps[at - 1]}`).toMatchObject({
        code: 0,
      });
      expectSameRows(expectSound(workshop.folder(name)), undisturbed);
    });
    expect(kills).toBeGreaterThan(0.8 * steps.length);
    process.stdout.write(`kill at every step: ${kills} kills at ${steps.length} steps\n`);
  });

  it('is recovered from by a start that is killed at any of its steps too', {
    timeout: 240_000,
  }, async () => {
    // Leaves an open batch of two kinds whose last row has no ledger entry.
    const left = { ...flags('r'), batch_size: 3, num_workers: 1 };
    const killStep = { on: 'write .*/ledger.jsonl', nth: 3 };
    const killed = await workshop.run({ ...left, output_dir: 'data/left' }, { killStep });
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const folder = (name: string) => join(workshop.path, 'data', name);
    const copy = (name: string) => cp(folder('left'), folder(name), { recursive: true });
    await copy('traced');
    const all = await stepsOf('r', { output_dir: 'data/traced', resume: true });
    // From its merge on it is as every run is.
    const steps = all.slice(
      0,
      all.findIndex((step) => step.includes('trajectories.jsonl')),
    );
    let kills = 0;
    await forEachStep(steps.length, async (at) => {
      await copy(`again-${at}`);
      const again = { ...left, output_dir: `data/again-${at}`, resume: true };
      const end = await workshop.run(again, { killStep: { at } });
      if (end.signal === 'SIGKILL') kills += 1;
      expect(await workshop.run(again)).toMatchObject({ code: 0 });
      const run = expectSound(join(folder(`again-${at}`), 'r'));
      expectSameRows(run, undisturbed);
      expect(run.ledger.map((entry) => entry.adopted)).toEqual([false, false, true]);
    });
    expect(kills).toBeGreaterThan(0.8 * steps.length);
    process.stdout.write(
      `kill at every step of a recovery: ${kills} kills at ${steps.length} steps\n`,
    );
  });
});
