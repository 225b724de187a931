import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolCall } from '../../support/model-server-replies.ts';
import { completeLines, expectSound, leftovers } from '../../support/run-files.ts';
import { makeWorkshop, until, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, makeGate, type Provider, startProvider } from './playing-provider.ts';

/** Far longer than any test; the number is nobody else's. */
const LONG_SLEEP = `sleep ${4_000_000 + process.pid}`;

let workshop: Workshop;
let provider: Provider | undefined;
beforeEach(async () => {
  workshop = await makeWorkshop();
});
afterEach(async () => {
  await workshop.dispose();
  await provider?.close();
});

function isSleeping(): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words.join(' ').trim() === LONG_SLEEP;
    } catch {
      return false;
    }
  });
}

const ledger = () => completeLines(join(workshop.folder(), 'ledger.jsonl'));

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it('once hands back what is in flight, and saves', async () => {
    await workshop.dataset(['quick', 'slow', 'slower', 'never']);
    const gate = makeGate();
    provider = await startProvider(async (prompt, nth) => {
      if (prompt === 'quick' || nth > 1) return ANSWER;
      await gate.opened;
      return prompt === 'slow' ? ANSWER : toolCall('terminal', { command: 'true' });
    });
    const run = workshop.start({ ...provider.flags, num_workers: 2, toolsets: 'terminal' });
    await until(() => ledger().length === 1 && provider?.asked().length === 3);
    run.kill(signal);
    await run.stderrHas('stopping: prompts in flight end at their next turn');
    gate.open();

    const end = await run.ended;
    expect(end).toMatchObject({ code: 130, signal: null });
    expect(end.stderr).toContain('interrupted; everything finished is saved');
    expect(end.stdout).toContain('planned 4 = completed 2 + ');
    const saved = expectSound(workshop.folder());
    // `slow` had its answer, `slower` would have needed another turn.
    expect(saved.ledger.map((entry) => entry.prompt_index)).toEqual([0, 1]);
    expect(provider.asked().sort()).toEqual(['quick', 'slow', 'slower']);
    expect(saved.statistics.coverage).toMatchObject({ completed: 2, pending: 2, failed: 0 });

    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    const whole = expectSound(workshop.folder());
    expect(whole.ledger.map((entry) => entry.timing.attempt)).toEqual([1, 1, 1, 1]);
  });

  it('twice stops at once, with the commands that run', async () => {
    await workshop.dataset(['quick', 'sleepy']);
    provider = await startProvider((prompt, nth) => {
      if (prompt === 'quick' || nth > 1) return ANSWER;
      return toolCall('terminal', { command: `${LONG_SLEEP}; true`, timeout: 500 });
    });
    const run = workshop.start({ ...provider.flags, toolsets: 'terminal' });
    await until(() => ledger().length === 1 && isSleeping());
    run.kill(signal);
    await run.stderrHas('once more stops at once');
    const from = performance.now();
    run.kill(signal);

    expect(await run.ended).toMatchObject({ code: 130, signal: null });
    // 1 s at most for the commands, and room for a busy machine.
    expect(performance.now() - from).toBeLessThan(4_000);
    expect(isSleeping()).toBe(false);
    expect(ledger()).toHaveLength(1);

    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    expect(expectSound(workshop.folder()).statistics.coverage).toMatchObject({ completed: 2 });
    expect(provider.asked().filter((prompt) => prompt === 'quick')).toHaveLength(1);
    expect(leftovers(workshop.folder())).toEqual([]);
  });
});

describe('kill -9', () => {
  it('leaves commands to the next start of any run, which ends them', async () => {
    await workshop.dataset(['sleepy']);
    provider = await startProvider((_prompt, nth) =>
      nth > 1 ? ANSWER : toolCall('terminal', { command: `${LONG_SLEEP}; true`, timeout: 500 }),
    );
    const run = workshop.start({ ...provider.flags, toolsets: 'terminal' });
    await until(() => isSleeping());
    run.kill('SIGKILL');
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });

    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    expect(isSleeping()).toBe(false);
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(1);
  });
});
