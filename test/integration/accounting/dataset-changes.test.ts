import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSound } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, BROKEN, type Provider, startProvider } from './playing-provider.ts';

let workshop: Workshop;
let provider: Provider;
let broken: ReadonlySet<string>;
beforeEach(async () => {
  workshop = await makeWorkshop();
  broken = new Set();
  provider = await startProvider((prompt) => (broken.has(prompt) ? BROKEN : ANSWER));
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

/** One pass that ends well; gives the prompts that it asked about, sorted, and the run after it. */
async function pass(rows: readonly string[], flags: Flags = {}) {
  await workshop.dataset(rows);
  const before = provider.asked().length;
  const end = await workshop.run({ ...provider.flags, ...flags });
  expect(end).toMatchObject({ code: broken.size > 0 ? 1 : 0 });
  const asked = provider.asked().slice(before).sort();
  return { asked, end, ...expectSound(workshop.folder()) };
}

describe('a dataset that changes between passes', () => {
  it('has each repeat of a prompt run once', async () => {
    const rows = ['twin', 'single', 'twin', 'twin'];
    const first = await pass(rows);
    expect(first.asked).toEqual(['single', 'twin', 'twin', 'twin']);
    expect(first.trajectories.map((row) => row.metadata.prompt_id.split('-')[1]).sort()).toEqual([
      '0',
      '0',
      '1',
      '2',
    ]);
    const second = await pass(rows, { resume: true });
    expect(second.asked).toEqual([]);
    const more = await pass([...rows, 'twin'], { resume: true });
    expect(more.asked).toEqual(['twin']);
    expect(more.statistics.coverage).toMatchObject({ planned: 5, completed: 5 });
  });

  it('has rows run that were inserted, whatever index they sit on', async () => {
    await pass(['a', 'b']);
    const { asked, checkpoint, trajectories } = await pass(['new', 'b', 'a', 'newer'], {
      resume: true,
    });
    expect(asked).toEqual(['new', 'newer']);
    expect(trajectories).toHaveLength(4);
    expect(checkpoint.completed_prompts).toEqual([0, 1, 2, 3]);
  });

  it('has rows counted as withdrawn that left it without an outcome', async () => {
    broken = new Set(['gone']);
    await pass(['kept', 'gone'], { max_attempts: 1 });
    // Nothing starts before the budget is there: `late` gets no outcome.
    const limit = { resume: true, max_total_tokens: 1 };
    await workshop.dataset(['kept', 'late', 'later']);
    expect(await workshop.run({ ...provider.flags, ...limit })).toMatchObject({ code: 1 });
    expect(expectSound(workshop.folder()).statistics.coverage).toEqual({
      planned: 4,
      completed: 1,
      partial: 0,
      discarded: 0,
      failed: 1,
      withdrawn: 0,
      pending: 2,
    });

    await workshop.dataset(['kept', 'later']);
    const end = await workshop.run({ ...provider.flags, ...limit });
    expect(end.stdout).toContain(
      'planned 4 = completed 1 + partial 0 + discarded 0 + failed 1 + withdrawn 1 + pending 1',
    );
    const { statistics, checkpoint } = expectSound(workshop.folder());
    expect(statistics.coverage).toMatchObject({ withdrawn: 1, pending: 1, failed: 1 });
    expect(checkpoint.completed_prompts).toEqual([0]);
  });

  it('keeps the files of earlier passes as they are under another batch size', async () => {
    const rows = ['a', 'b', 'c', 'd', 'e'];
    broken = new Set(['d']);
    await pass(rows, { max_attempts: 1 });
    broken = new Set();
    const { asked, ledger } = await pass(rows, { resume: true, batch_size: 10 });
    expect(asked).toEqual(['d']);
    expect(ledger.at(-1)).toMatchObject({ batch: 3, timing: { attempt: 2 } });
    const files = readdirSync(workshop.folder()).filter((name) => /_\d+\.jsonl$/.test(name));
    expect(files.sort()).toEqual([
      'batch_0.jsonl',
      'batch_1.jsonl',
      'batch_2.jsonl',
      'batch_3.jsonl',
      'failed_1.jsonl',
    ]);
  });

  it('is run by and by with max_samples', async () => {
    const rows = ['a', 'b', 'c', 'd'];
    const few = await pass(rows, { max_samples: 2 });
    expect(few.asked).toEqual(['a', 'b']);
    expect(few.statistics.coverage).toMatchObject({ planned: 2, pending: 0 });
    expect(few.checkpoint.completed_prompts).toEqual([0, 1]);
    expect((await pass(rows, { resume: true, max_samples: 3 })).asked).toEqual(['c']);
    expect((await pass(rows, { resume: true, max_samples: 9 })).asked).toEqual(['d']);
  });

  it('gives further samples of each row', async () => {
    const few = await pass(['a', 'b'], { samples_per_prompt: 1 });
    expect(few.checkpoint.completed_prompts).toEqual([0, 1]);
    const more = await pass(['a', 'b'], { resume: true, samples_per_prompt: 3 });
    expect(more.asked).toEqual(['a', 'a', 'b', 'b']);
    expect(more.statistics.coverage).toMatchObject({ planned: 6, completed: 6 });
  });
});
