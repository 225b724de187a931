import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusal, type ScriptedReply, toolCall } from '../../support/model-server-replies.ts';
import { expectSound } from '../../support/run-files.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, type Provider, startProvider } from './playing-provider.ts';

const CASES: { name: string; reply: ScriptedReply; outcome: string; words: string }[] = [
  {
    name: '401',
    reply: refusal(401, 'No auth credentials found'),
    outcome: 'failed/auth',
    words: 'HTTP 401: No auth credentials found',
  },
  {
    name: '402',
    reply: refusal(402, 'Insufficient credits, add more'),
    outcome: 'failed/credits',
    words: 'HTTP 402: Insufficient credits, add more',
  },
  {
    name: '403 that is not about the content',
    reply: refusal(403, 'This key may not use this model'),
    outcome: 'failed/auth',
    words: 'HTTP 403: This key may not use this model',
  },
];

let workshop: Workshop;
let provider: Provider;
let isRefusing: boolean;
beforeEach(async () => {
  workshop = await makeWorkshop();
  isRefusing = true;
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

describe('a provider that refuses key or credit', () => {
  it.each(CASES)('stops the run at once: $name', async ({ reply, outcome, words }) => {
    await workshop.dataset(['good', 'refused', 'never', 'ever']);
    provider = await startProvider((prompt) =>
      prompt === 'refused' && isRefusing ? reply : ANSWER,
    );
    const end = await workshop.run({ ...provider.flags, num_workers: 1 });

    expect(end.code).toBe(1);
    expect(end.stderr).toContain(`stopped, the provider refused: ${words}`);
    expect(end.stderr).toContain('--resume goes on');
    expect(end.stdout).toContain(
      'planned 4 = completed 1 + partial 0 + discarded 0 + failed 0 + withdrawn 0 + pending 3',
    );
    expect(provider.asked()).toEqual(['good', 'refused']);
    const stopped = expectSound(workshop.folder());
    expect(stopped.ledger.map((entry) => entry.outcome)).toEqual(['completed', outcome]);
    expect(stopped.ledger[1]?.reason).toBe(words);
    expect(stopped.checkpoint.completed_prompts).toEqual([0]);
    expect(stopped.statistics.outcomes).toMatchObject({ completed: 1, [outcome]: 0 });

    isRefusing = false;
    // One attempt is enough: the refused one counts against none.
    const resumed = await workshop.run({ ...provider.flags, resume: true, max_attempts: 1 });
    expect(resumed.code).toBe(0);
    expect(provider.asked().slice(2).sort()).toEqual(['ever', 'never', 'refused']);
    const whole = expectSound(workshop.folder());
    expect(whole.failed).toEqual([]);
    expect(whole.statistics.coverage).toMatchObject({ planned: 4, completed: 4, pending: 0 });
  });

  it('has prompts in flight handed back, not recorded', async () => {
    await workshop.dataset(['slow', 'refused']);
    let answerSlow = (_reply: ScriptedReply): void => undefined;
    provider = await startProvider((prompt, nth) => {
      if (prompt === 'refused') return isRefusing ? refusal(401, 'No.') : ANSWER;
      if (nth > 1) return ANSWER;
      return new Promise<ScriptedReply>((resolve) => {
        answerSlow = resolve;
      });
    });
    const run = workshop.start({ ...provider.flags, verbose: true });
    await run.stderrHas('failed/auth');
    answerSlow(toolCall('terminal', { command: 'true' }));

    const end = await run.ended;
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('[prompt 0] handed back: a resume runs it again');
    expect(expectSound(workshop.folder()).ledger).toMatchObject([{ outcome: 'failed/auth' }]);
    expect(provider.asked().sort()).toEqual(['refused', 'slow']);
  });
});
