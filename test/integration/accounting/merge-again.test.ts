import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digests, expectSound, readJson } from '../../support/run-files.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, BROKEN, type Provider, startProvider, THOUGHTLESS } from './playing-provider.ts';

const MERGED = [
  'trajectories.jsonl',
  'discarded.jsonl',
  'failed.jsonl',
  'statistics.json',
  'checkpoint.json',
  'README.md',
];

let workshop: Workshop;
let provider: Provider;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(Array.from({ length: 23 }, (_, index) => textOf(index)));
  provider = await startProvider((prompt) => {
    if (prompt.startsWith('broken')) return BROKEN;
    return prompt.startsWith('thoughtless') ? THOUGHTLESS : ANSWER;
  });
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

function textOf(index: number): string {
  if (index % 7 === 3) return `broken ${index}`;
  return index % 5 === 4 ? `thoughtless ${index}` : `good ${index}`;
}

describe('merging', () => {
  it('gives the same bytes again and again, and without the files there were', async () => {
    expect(await workshop.run(provider.flags)).toMatchObject({ code: 1 });
    expect(await workshop.run({ resume: true, max_attempts: 1 })).toMatchObject({ code: 1 });
    expectSound(workshop.folder());
    const ofTheRun = digests(workshop.folder());

    for (const _ of [1, 2]) {
      expect(await workshop.run({}, { command: 'merge' })).toMatchObject({ code: 0 });
      expect(digests(workshop.folder())).toEqual(ofTheRun);
    }
    for (const name of MERGED) await rm(join(workshop.folder(), name));
    const end = await workshop.run({}, { command: 'merge' });
    expect(end.stdout).toContain('planned 23 = completed');
    expect(digests(workshop.folder())).toEqual(ofTheRun);
  });

  it('is made up for by a resume that has nothing else to do', async () => {
    await workshop.dataset(['good 1', 'thoughtless 2', 'good 3']);
    const killStep = { on: 'openSync .*trajectories.jsonl.tmp' };
    expect(await workshop.run(provider.flags, { killStep })).toMatchObject({ signal: 'SIGKILL' });
    expect(existsSync(join(workshop.folder(), 'trajectories.jsonl'))).toBe(false);

    const end = await workshop.run({ resume: true });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('0 new, 3 done, 0 to retry');
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(2);
    expect(provider.requests).toHaveLength(3);
  });

  it('of a run that was killed tells what is there so far', async () => {
    const killStep = { on: 'write .*ledger.jsonl' };
    expect(await workshop.run({ ...provider.flags, num_workers: 1 }, { killStep })).toMatchObject({
      signal: 'SIGKILL',
    });
    const end = await workshop.run({}, { command: 'merge' });
    expect(end.stdout).toContain('planned 23 = completed 1 + partial 0');
    expect(end.stdout).toContain('pending 22');
    expectSound(workshop.folder());
  });

  it('of no run is refused', async () => {
    const end = await workshop.run({ run_name: 'other' }, { command: 'merge' });
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain('there is no run other in data');
    expect(existsSync(workshop.folder('other'))).toBe(false);
  });
});

describe('checkpoint.json', () => {
  it('reads as Hermes reads its own', async () => {
    await workshop.run(provider.flags);
    const checkpoint = readJson<Record<string, unknown>>(
      join(workshop.folder(), 'checkpoint.json'),
    );
    expect(Object.keys(checkpoint)).toEqual([
      'run_name',
      'completed_prompts',
      'batch_stats',
      'last_updated',
    ]);
    const good = Array.from({ length: 23 }, (_, index) => index).filter(
      (index) => !textOf(index).startsWith('broken'),
    );
    expect(checkpoint['run_name']).toBe('r');
    expect(checkpoint['completed_prompts']).toEqual(good);
    expect(Object.keys(checkpoint['batch_stats'] as object)).toHaveLength(12);
    expect(checkpoint['batch_stats']).toMatchObject({
      1: { processed: 1, skipped: 0, discarded_no_reasoning: 0 },
      2: { processed: 2, skipped: 0, discarded_no_reasoning: 1 },
    });
    expect(Date.parse(String(checkpoint['last_updated']))).toBeGreaterThan(0);
  });

  it('has a row only when all of its samples are done', async () => {
    let isMended = false;
    await provider.close();
    provider = await startProvider((_prompt, nth) => (nth === 2 && !isMended ? BROKEN : ANSWER));
    await workshop.dataset(['one', 'two']);
    const flags = { ...provider.flags, samples_per_prompt: 2, max_attempts: 1, num_workers: 1 };
    expect(await workshop.run(flags)).toMatchObject({ code: 1 });
    const path = join(workshop.folder(), 'checkpoint.json');
    expect(JSON.parse(await readFile(path, 'utf8')).completed_prompts).toEqual([]);
    isMended = true;
    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(path, 'utf8')).completed_prompts).toEqual([0, 1]);
  });
});
