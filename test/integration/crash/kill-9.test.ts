import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptHash } from '../../../src/core/dataset/prompt-id.ts';
import { ledgerEntrySchema } from '../../../src/core/run/ledger-entry.ts';
import { isDone } from '../../../src/core/trajectory/outcome.ts';
import { completeLines, expectSound, type StoredRun } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { type Campaign, runCampaign } from './kill-campaign.ts';
import { expectSameRows } from './same-rows.ts';
import { startScriptedProvider } from './scripted-provider.ts';
import { seededRandom } from './seeded-random.ts';

const SEED = 'talaria';
/** In each of three runs: 51 in all. */
const KILLS_EACH = 17;
const LIMIT_MS = 180_000;
const ROWS = [
  ...Array.from({ length: 24 }, (_, index) => `good ${index}`),
  ...Array.from({ length: 6 }, (_, index) => `thoughtless ${index}`),
  ...Array.from({ length: 4 }, (_, index) => `flaky ${index}`),
  'broken for ever',
  ...Array.from({ length: 4 }, () => 'twin'),
  'good 3',
];

const total = { kills: 0, resumes: 0, adopted: 0, 'model calls for finished prompts': 0 };
const moments: Record<string, number> = {};

let disturbed: Workshop;
let calm: Workshop;
beforeEach(async () => {
  disturbed = await makeWorkshop();
  calm = await makeWorkshop();
  // Spread over the batches, so that these have rows of all kinds.
  const rows = ROWS.map((prompt, index) => ({ prompt, index })).sort(
    (a, b) => ((a.index * 7) % ROWS.length) - ((b.index * 7) % ROWS.length),
  );
  for (const workshop of [disturbed, calm]) await workshop.dataset(rows);
});
afterEach(async () => {
  await disturbed.dispose();
  await calm.dispose();
});

afterAll(() => {
  const kinds = Object.entries(moments).map(([label, count]) => `${count} ${label}`);
  const figures = Object.entries(total).map(([label, count]) => `${count} ${label}`);
  process.stdout.write(`kill -9: ${figures.join(', ')}; kills: ${kinds.join(', ')}\n`);
});

function count(campaign: Campaign, run: StoredRun) {
  total.kills += campaign.kills;
  total.resumes += campaign.resumes;
  total.adopted += run.ledger.filter((entry) => entry.adopted).length;
  for (const [label, times] of Object.entries(campaign.moments)) {
    moments[label] = (moments[label] ?? 0) + times;
  }
}

/** The prompts whose every sample is done by the ledger as it is on disk at this moment. */
function finishedPrompts(samplesPerPrompt: number): (prompt: string) => boolean {
  const ledger = join(disturbed.folder(), 'ledger.jsonl');
  return (prompt) => {
    const hash = promptHash({ prompt, image: '', cwd: '' }, (text) =>
      createHash('sha256').update(text).digest('hex'),
    );
    const done = completeLines(ledger)
      .map((line) => ledgerEntrySchema.parse(JSON.parse(line)))
      .filter((entry) => entry.prompt_id.startsWith(hash) && isDone(entry.outcome));
    return done.length >= samplesPerPrompt * ROWS.filter((row) => row === prompt).length;
  };
}

describe('kill -9 at seeded moments', () => {
  it('changes no row of a rehearsal', { timeout: LIMIT_MS }, async () => {
    const flags: Flags = { model: 'rehearsal', batch_size: 6, samples_per_prompt: 2, seed: 5 };
    const campaign = await runCampaign(disturbed, flags, KILLS_EACH, seededRandom(`${SEED} 1`));
    expect(campaign.code).toBe(0);
    expect(await calm.run(flags)).toMatchObject({ code: 0 });
    const run = expectSound(disturbed.folder());
    expectSameRows(run, expectSound(calm.folder()));
    expect(run.trajectories).toHaveLength(2 * ROWS.length);
    count(campaign, run);
  });

  it.each([
    { batch_size: 5, samples_per_prompt: 1, num_workers: 4 },
    { batch_size: 3, samples_per_prompt: 2, num_workers: 3 },
  ])('changes no row of a model: %j', { timeout: LIMIT_MS }, async (shape) => {
    const isFinished = finishedPrompts(shape.samples_per_prompt);
    const boughtAgain: string[] = [];
    const provider = await startScriptedProvider((prompt) => {
      if (isFinished(prompt)) boughtAgain.push(prompt);
    });
    const calmProvider = await startScriptedProvider();
    try {
      const flags = { model: 'test/model', toolsets: 'terminal', max_attempts: 2, ...shape };
      const toProvider = { ...flags, base_url: provider.baseUrl };
      const random = seededRandom(`${SEED} ${shape.batch_size}`);
      const campaign = await runCampaign(disturbed, toProvider, KILLS_EACH, random);
      expect(campaign.code).toBe(1);
      const calmEnd = await calm.run({ ...flags, base_url: calmProvider.baseUrl });
      expect(calmEnd).toMatchObject({ code: 1 });

      const run = expectSound(disturbed.folder());
      expectSameRows(run, expectSound(calm.folder()));
      total['model calls for finished prompts'] += boughtAgain.length;
      expect(boughtAgain).toEqual([]);
      count(campaign, run);
    } finally {
      await provider.close();
      await calmProvider.close();
    }
  });
});
