import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { ImageGoneError, RegistryBusyError } from '../../../src/core/ports/image-registry.ts';
import {
  type DispatchFixture,
  makeDispatchFixture,
  WILLING_REGISTRY,
} from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createScriptedFleet, type ScriptedFleet } from '../../support/scripted-fleet.ts';

const BUDGET_MS = 50_000;

describe.skipIf(!hasEmulator())('images before their first launch', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  async function fixture(
    settings: Partial<DispatchFixture['deps']['settings']> = {},
    registry = WILLING_REGISTRY,
  ): Promise<DispatchFixture & { fleet: ScriptedFleet }> {
    const fleet = createScriptedFleet();
    const of = { fleet, settings, registry };
    return { ...(await makeDispatchFixture(emulator.endpoint, of)), fleet };
  }

  it('ends the batches of an image that is not to be had, without a task', async () => {
    const at = await fixture(
      {},
      {
        resolve: async (reference, of) => {
          if (reference.includes('gone')) throw new ImageGoneError('no such image');
          return await WILLING_REGISTRY.resolve(reference, of);
        },
      },
    );
    await at.putRun(runRecord('images'));
    await at.putBatch(batchRecord('images', 0, { image: 'registry.test/gone:1', prompts: 2 }));
    await at.putBatch(batchRecord('images', 1, { image: 'registry.test/fine:1' }));

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks.map(({ launch }) => launch.batch)).toEqual([1]);
    const batch = await at.batch('images', 0);
    expect(batch).toMatchObject({ state: 'closed', remaining: 0, launch: 0 });
    expect(batch.closed_at).toBeGreaterThan(0);
    const attempts = await at.attempts('images', 0);
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.['entry']).toMatchObject({
      outcome: 'failed/image_unavailable',
      image: 'registry.test/gone:1',
      reason: 'registry.test/gone:1: no such image',
    });
    const hash = batch.prompts[0]?.hash ?? '';
    expect(await at.prompt(hash, 'images')).toMatchObject({ outcome: 'failed/image_unavailable' });
    expect(await at.active()).toBe(1);
  });

  it('waits where a registry gives no answer, and pauses the run in the end', async () => {
    const at = await fixture(
      {},
      {
        resolve: async () => {
          throw new RegistryBusyError('registry.test answered 503');
        },
      },
    );
    await at.putRun(runRecord('busy'));
    await at.putBatch(batchRecord('busy', 0));

    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('busy', 0)).toMatchObject({ state: 'waiting', unclaimed: 1, launch: 0 });
    for (let round = 0; round < 12; round++) {
      at.jump(900_000);
      await dispatch(at.deps, BUDGET_MS);
    }
    const run = await at.run('busy');
    expect(run.state).toBe('paused');
    expect(run.reason).toContain('gives no answer');
    expect(at.asked).toEqual(['merge busy']);
  });
});
