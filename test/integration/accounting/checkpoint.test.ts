import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Checkpoint } from '../../../src/core/run/checkpoint.ts';
import { readJson } from '../../support/run-files.ts';
import { makeWorkshop, until, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, makeGate, type Provider, startProvider, THOUGHTLESS } from './playing-provider.ts';

let workshop: Workshop;
let provider: Provider;
const gate = makeGate();
beforeEach(async () => {
  workshop = await makeWorkshop();
  provider = await startProvider(async (prompt) => {
    if (prompt === 'last') await gate.opened;
    return prompt === 'thoughtless' ? THOUGHTLESS : ANSWER;
  });
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

it('has the batches of the pass that still runs', async () => {
  await workshop.dataset(['first', 'thoughtless', 'last', 'and more']);
  const run = workshop.start({ ...provider.flags, batch_size: 2, num_workers: 2 });
  const path = join(workshop.folder(), 'checkpoint.json');
  const checkpoint = await until(() => existsSync(path) && readJson<Checkpoint>(path));
  expect(checkpoint.completed_prompts).toEqual(expect.arrayContaining([0, 1]));
  expect(checkpoint.batch_stats['0']).toEqual({
    processed: 2,
    skipped: 0,
    discarded_no_reasoning: 1,
  });
  gate.open();
  expect(await run.ended).toMatchObject({ code: 0 });
});
