import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BUNDLE, runToEnd, useCommandFolder } from '../../support/talaria-command.ts';

const PROBE = fileURLToPath(new URL('../../../bench/growth/probe.mjs', import.meta.url));
const FEW = 500;
const MANY = 3000;
const TIMEOUT_MS = 180_000;
/**
 * Bytes a prompt. A row has some 2,500, in memory more; it is written by the run and again by each
 * merge, the sandbox's file and the ledger entry come on top. What is held differs by a few MB from
 * run to run, but whoever keeps rows, entries or conversations is found out.
 */
const LIMITS = {
  run: { written: 12_000, held: 4000 },
  resume: { written: 5000, held: 4000 },
  merge: { written: 5000, held: 4000 },
};

const folder = useCommandFolder();

interface Used {
  /** Most memory in use at any moment, after a collection. */
  peakLiveBytes: number;
  /** By write calls of the process and its commands, whatever the disk makes of them. */
  writtenBytes: number;
}

async function used(command: 'run' | 'merge', runName: string, words: string[]): Promise<Used> {
  const target = folder.at(`${runName}.json`);
  const node = ['--expose-gc', '--import', PROBE, BUNDLE];
  const end = await runToEnd(
    process.execPath,
    [...node, command, `--run_name=${runName}`, ...words],
    folder.path,
    { env: { TALARIA_PROBE: target } },
  );
  expect(end.code, end.stderr).toBe(0);
  return JSON.parse(readFileSync(target, 'utf8'));
}

/** A run, a resume that has nothing to do, and a merge, of so many prompts. */
async function usedBy(prompts: number) {
  const runName = `growth-${prompts}`;
  const rows = Array.from({ length: prompts }, (_, index) => `{"prompt":"Task ${index}"}\n`);
  await folder.write(`${runName}.jsonl`, rows.join(''));
  const words = [`--dataset_file=${runName}.jsonl`, '--model=rehearsal', '--max_turns=1'];
  return {
    run: await used('run', runName, [...words, '--batch_size=10', '--num_workers=16']),
    resume: await used('run', runName, ['--resume']),
    merge: await used('merge', runName, []),
  };
}

it('takes memory and writes bytes in proportion to the prompts, and little a prompt', {
  timeout: TIMEOUT_MS,
}, async () => {
  const few = await usedBy(FEW);
  const many = await usedBy(MANY);
  const aPrompt = (command: keyof typeof few, of: keyof Used) =>
    (many[command][of] - few[command][of]) / (MANY - FEW);
  const figures = Object.entries(LIMITS).map(([command, limits]) => ({
    command,
    written: Math.round(aPrompt(command as keyof typeof few, 'writtenBytes')),
    held: Math.round(aPrompt(command as keyof typeof few, 'peakLiveBytes')),
    limits,
  }));
  process.stdout.write(`bytes a prompt: ${JSON.stringify(figures)}\n`);
  for (const { command, written, held, limits } of figures) {
    expect(written, command).toBeLessThan(limits.written);
    expect(held, command).toBeLessThan(limits.held);
  }
});
