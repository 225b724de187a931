import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completion, refusal, text, toolCall } from '../../support/model-server-replies.ts';
import { expectSound, type StoredRun } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import {
  ANSWER,
  BROKEN,
  type Play,
  type Provider,
  startProvider,
  THOUGHTLESS,
} from './playing-provider.ts';

let workshop: Workshop;
let provider: Provider | undefined;
beforeEach(async () => {
  workshop = await makeWorkshop();
});
afterEach(async () => {
  await workshop.dispose();
  await provider?.close();
});

async function play(rows: readonly string[], script: Play): Promise<Provider> {
  await workshop.dataset(rows);
  provider = await startProvider(script);
  return provider;
}

async function pass(code: number, flags: Flags = {}): Promise<StoredRun> {
  const end = await workshop.run({ ...provider?.flags, toolsets: 'terminal', ...flags });
  expect(end).toMatchObject({ code });
  return expectSound(workshop.folder());
}

/** Outcomes of a run's attempts in the order of their commits. */
function attemptsOf(run: StoredRun): string[] {
  return run.ledger.map(
    (entry) => `${entry.prompt_index} #${entry.timing.attempt} ${entry.outcome}`,
  );
}

describe('a prompt that fails', () => {
  it('is tried again after the others of its batch, in a fresh sandbox', async () => {
    const file = { command: 'ls; touch left-behind' };
    const { asked } = await play(['bad', 'good'], (prompt, nth) => {
      if (prompt === 'good') return ANSWER;
      if (nth === 1) return toolCall('terminal', file);
      if (nth === 2) return BROKEN;
      return nth === 3 ? toolCall('terminal', file) : ANSWER;
    });
    const run = await pass(0, { num_workers: 1 });
    expect(attemptsOf(run)).toEqual([
      '0 #1 failed/model_error',
      '1 #1 completed',
      '0 #2 completed',
    ]);
    expect(asked()).toEqual(['bad', 'bad', 'good', 'bad', 'bad']);
    expect(JSON.stringify(run.trajectories)).not.toContain('left-behind\\n');
    expect(run.failed).toEqual([]);
    expect(run.statistics).toMatchObject({ attempts: 3, coverage: { completed: 2, failed: 0 } });
  });

  it('is given up after max_attempts, and tried again by a resume', async () => {
    let isMended = false;
    await play(['bad', 'good'], (prompt) => (prompt === 'bad' && !isMended ? BROKEN : ANSWER));
    const first = await pass(1, { num_workers: 1, max_attempts: 2 });
    expect(attemptsOf(first)).toEqual([
      '0 #1 failed/model_error',
      '1 #1 completed',
      '0 #2 failed/model_error',
    ]);
    expect(first.failed.map((row) => row.timing.attempt)).toEqual([2]);
    expect(first.checkpoint.completed_prompts).toEqual([1]);

    const second = await pass(1, { resume: true, max_attempts: 1 });
    expect(attemptsOf(second).slice(3)).toEqual(['0 #3 failed/model_error']);
    expect(second.failed.map((row) => row.timing.attempt)).toEqual([3]);

    isMended = true;
    const third = await pass(0, { resume: true });
    expect(attemptsOf(third).slice(4)).toEqual(['0 #4 completed']);
    expect(third.failed).toEqual([]);
    expect(third.statistics).toMatchObject({ attempts: 5, passes: 3, coverage: { completed: 2 } });
  });

  it('keeps the conversation that was paid for', async () => {
    await play(['bad'], (_prompt, nth) =>
      nth === 1 ? toolCall('terminal', { command: 'echo paid' }) : BROKEN,
    );
    const { failed } = await pass(1, { max_attempts: 1 });
    expect(failed).toMatchObject([{ api_calls: 1, usage: { total_tokens: 15 } }]);
    expect(failed[0]?.conversations.map((turn) => turn.from)).toEqual(['human', 'gpt', 'tool']);
    expect(failed[0]?.reason).toContain('this model is out of order');
  });

  it('is final in its pass where the provider finds fault with its content', async () => {
    const flagged = refusal(403, 'the prompt was flagged by moderation');
    const { asked } = await play(['rude', 'good'], (prompt) =>
      prompt === 'rude' ? flagged : ANSWER,
    );
    const run = await pass(1);
    expect(asked().sort()).toEqual(['good', 'rude']);
    expect(run.failed).toMatchObject([{ outcome: 'failed/content_filter' }]);
    expect(run.statistics.coverage).toMatchObject({ completed: 1, failed: 1, pending: 0 });
  });
});

describe('a conversation that is not fit for training', () => {
  it('is kept apart and never bought again', async () => {
    const invented = completion({
      reasoning: 'I invent.',
      toolCalls: [{ name: 'teleport', arguments: {} }],
    });
    const { asked } = await play(['thoughtless', 'invented', 'good'], (prompt) => {
      if (prompt === 'good') return text('Done.');
      return prompt === 'invented' ? invented : THOUGHTLESS;
    });
    const first = await pass(0, { num_workers: 1 });
    expect(asked()).toEqual(['thoughtless', 'invented', 'good']);
    expect(first.discarded.map((row) => row.outcome)).toEqual([
      'discarded/no_reasoning',
      'discarded/invalid_tool',
    ]);
    expect(first.checkpoint.completed_prompts).toEqual([0, 1, 2]);
    expect(first.checkpoint.batch_stats['0']).toEqual({
      processed: 2,
      skipped: 0,
      discarded_no_reasoning: 1,
    });

    const second = await pass(0, { resume: true });
    expect(asked()).toHaveLength(3);
    expect(second.discarded).toEqual(first.discarded);
  });
});
