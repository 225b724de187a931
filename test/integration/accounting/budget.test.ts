import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completion, type ScriptedReply } from '../../support/model-server-replies.ts';
import { expectSound } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { type Provider, startProvider } from './playing-provider.ts';

const PROMPTS = ['a', 'b', 'c', 'd', 'e'];
const LAST = 'planned 5 = completed 5 + partial 0';

let workshop: Workshop;
let provider: Provider;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(PROMPTS);
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

/** An answer that uses 15 tokens, and this much money if told. */
function priced(cost?: number): ScriptedReply {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const told = cost === undefined ? usage : { ...usage, cost };
  return completion({ content: 'Done.', reasoning: 'Easy.', usage: told });
}

async function pass(flags: Flags) {
  return await workshop.run({ ...provider.flags, num_workers: 1, ...flags });
}

describe('a budget of the whole run', () => {
  it('stops it at max_total_tokens, and goes on with a higher one', async () => {
    provider = await startProvider(() => priced());
    const first = await pass({ max_total_tokens: 30 });
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('stopped: max_total_tokens 30 is used up: 30 tokens so far');
    expect(provider.asked()).toHaveLength(2);
    expect(expectSound(workshop.folder()).statistics.coverage).toMatchObject({
      completed: 2,
      pending: 3,
    });

    // What earlier passes used counts: the limit stays the run's, and nothing starts.
    expect(await pass({ resume: true })).toMatchObject({ code: 1 });
    expect(provider.asked()).toHaveLength(2);

    const last = await pass({ resume: true, max_total_tokens: 1000 });
    expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining(LAST) });
    expect(provider.asked()).toHaveLength(5);
  });

  it('stops it at max_cost_usd, and goes on with a higher one', async () => {
    provider = await startProvider(() => priced(0.25));
    const first = await pass({ max_cost_usd: 0.5 });
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('stopped: max_cost_usd 0.5 is used up: $0.5000 so far');
    expect(provider.asked()).toHaveLength(2);
    expect(expectSound(workshop.folder()).statistics.cost_usd).toBe(0.5);

    expect(await pass({ resume: true, max_cost_usd: 10 })).toMatchObject({ code: 0 });
    expect(provider.asked()).toHaveLength(5);
    expectSound(workshop.folder());
  });

  it('stops it where a max_cost_usd can not be held, and says how to go on', async () => {
    provider = await startProvider(() => priced());
    const first = await pass({ max_cost_usd: 10 });
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('the endpoint reports no cost, so max_cost_usd cannot be held');
    expect(provider.asked()).toHaveLength(1);
    expectSound(workshop.folder());

    const second = await pass({ resume: true, max_cost_usd: 'none', max_total_tokens: 1000 });
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining(LAST) });
  });

  it('is no reason to stop once all prompts have ended', async () => {
    provider = await startProvider(() => priced());
    expect(await pass({ max_total_tokens: 75 })).toMatchObject({ code: 0 });
    expect(await pass({ resume: true })).toMatchObject({ code: 0 });
  });

  it('counts what failed attempts cost', async () => {
    provider = await startProvider((_prompt, nth) =>
      nth % 2 === 1
        ? completion({ reasoning: 'Hm.', toolCalls: [{ name: 'terminal', arguments: {} }] })
        : { status: 400, body: { error: { message: 'out of order' } } },
    );
    const end = await pass({ max_total_tokens: 30, max_attempts: 3, batch_size: 5 });
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('stopped: max_total_tokens 30 is used up');
    const { ledger, statistics } = expectSound(workshop.folder());
    expect(ledger).toHaveLength(2);
    expect(statistics.usage.total_tokens).toBe(30);
  });
});
