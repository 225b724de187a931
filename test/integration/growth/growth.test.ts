import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BUNDLE, runToEnd, useCommandFolder } from '../../support/talaria-command.ts';

const PROBE = fileURLToPath(new URL('../../../bench/growth/probe.mjs', import.meta.url));
const FEW = 500;
const MANY = 3000;
/** Makes a row some 11 KB: keeping it shows above buffers of a few MiB that come and go. */
const PADDING = '.'.repeat(8000);
const TIMEOUT_MS = 180_000;
interface Used {
  /** Most memory in use at any moment, after a collection. */
  peakHeapBytes: number;
  /** Most memory of buffers that stayed in use over several samples. */
  heldExternalBytes: number;
  /** By write calls of the process and its commands, whatever the disk makes of them. */
  writtenBytes: number;
}

/**
 * Bytes a prompt. A row has some 10,500; it is written by the run and again by each merge, the
 * snapshot's row, the sandbox's file and the ledger entry come on top. Whoever keeps rows, entries
 * or conversations is found out.
 */
const LIMITS: Record<'run' | 'resume' | 'merge', Used> = {
  run: { writtenBytes: 48_000, peakHeapBytes: 1500, heldExternalBytes: 6000 },
  resume: { writtenBytes: 23_000, peakHeapBytes: 1500, heldExternalBytes: 6000 },
  merge: { writtenBytes: 14_000, peakHeapBytes: 1500, heldExternalBytes: 6000 },
};

const folder = useCommandFolder();

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
  const rows = Array.from(
    { length: prompts },
    (_, index) => `{"prompt":"Task ${index}${PADDING}"}\n`,
  );
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
  for (const command of ['run', 'resume', 'merge'] as const) {
    const limits = LIMITS[command];
    for (const measure of ['writtenBytes', 'peakHeapBytes', 'heldExternalBytes'] as const) {
      const aPrompt = (many[command][measure] - few[command][measure]) / (MANY - FEW);
      process.stdout.write(`${command}: ${Math.round(aPrompt)} ${measure} a prompt\n`);
      expect(aPrompt, `${command}, ${measure}`).toBeLessThan(limits[measure]);
    }
  }
});
