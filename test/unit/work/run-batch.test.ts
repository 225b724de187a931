import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunObserver } from '../../../src/core/ports/observer.ts';
import type { LedgerEntry } from '../../../src/core/run/ledger-entry.ts';
import type { PlannedPrompt } from '../../../src/core/run/plan-batches.ts';
import {
  isRetried,
  OUTCOMES,
  type Outcome,
  stopsRun,
} from '../../../src/core/trajectory/outcome.ts';
import type { Trajectory } from '../../../src/core/trajectory/trajectory.ts';
import { type RunBatchDeps, runBatch } from '../../../src/core/work/run-batch.ts';
import { createRunStop } from '../../../src/core/work/run-stop.ts';
import { createSlots } from '../../../src/core/work/slots.ts';
import { trajectoryRow } from '../trajectory/trajectory-row.ts';

const QUIET = {
  batchStarted() {},
  attemptStarted() {},
  replied() {},
  toolReturned() {},
  attemptEnded() {},
  handedBack() {},
  batchClosed() {},
} satisfies RunObserver;

function promptOf(index: number): PlannedPrompt {
  const { prompt_id: promptId } = trajectoryRow(index).metadata;
  const row = { prompt: `prompt ${index}`, image: '', cwd: '', source: '{}' };
  return { promptId, promptIndex: index, sample: 0, row };
}

/** A batch whose attempts end as scripted, with everything that is done in order. */
async function run(
  script: readonly (readonly (Outcome | 'handed_back')[])[],
  more: Partial<RunBatchDeps> & { maxAttempts?: number } = {},
) {
  const log: string[] = [];
  const rows: Trajectory[] = [];
  const ledger: LedgerEntry[] = [];
  const stop = createRunStop();
  const tries = new Map<number, number>();
  const { maxAttempts = 3, ...deps } = more;
  const work = runBatch(
    { number: 7, pass: 2, maxAttempts, prompts: script.map((_, index) => promptOf(index)) },
    {
      async runPrompt(prompt, ref) {
        const number = tries.get(prompt.promptIndex) ?? 0;
        tries.set(prompt.promptIndex, number + 1);
        const outcome = script[prompt.promptIndex]?.[number] ?? 'failed/internal';
        if (outcome === 'handed_back') return outcome;
        const row = trajectoryRow(prompt.promptIndex, { outcome });
        return {
          ...row,
          metadata: { ...row.metadata, batch_num: ref.batch },
          timing: { ...row.timing, attempt: ref.attempt },
        };
      },
      store: {
        async append(row) {
          log.push(`row ${row.prompt_index}.${row.timing.attempt}`);
          rows.push(row);
        },
        async close(batch) {
          log.push(`close ${batch}`);
        },
      },
      ledger: {
        async append(entry) {
          log.push(`commit ${entry.prompt_index}.${entry.timing.attempt}`);
          ledger.push(entry);
        },
      },
      observer: QUIET,
      slots: createSlots(1),
      stop,
      attemptsBefore: () => 0,
      mayStart: () => true,
      ...deps,
    },
  );
  await work;
  return { log, rows, ledger, stop, tries };
}

describe('runBatch', () => {
  it('makes each row durable before its commit, and closes the batch last', async () => {
    const { log } = await run([['completed'], ['partial/turns']]);
    expect(log).toEqual(['row 0.1', 'commit 0.1', 'row 1.1', 'commit 1.1', 'close 7']);
  });

  it('tries again what failed by infrastructure, when the others are done', async () => {
    const { log } = await run([['failed/sandbox_lost', 'completed'], ['completed']]);
    expect(log.filter((line) => line.startsWith('commit'))).toEqual([
      'commit 0.1',
      'commit 1.1',
      'commit 0.2',
    ]);
  });

  it('numbers attempts on from those of earlier passes', async () => {
    const { ledger } = await run([['failed/internal', 'completed']], { attemptsBefore: () => 4 });
    expect(ledger.map((entry) => [entry.timing.attempt, entry.pass, entry.batch])).toEqual([
      [5, 2, 7],
      [6, 2, 7],
    ]);
  });

  it('gives every prompt its attempts, as many as its outcomes ask for and no more', async () => {
    const outcome = fc.constantFrom(...OUTCOMES.filter((of) => !stopsRun(of)));
    const scripts = fc.array(fc.array(outcome, { minLength: 4, maxLength: 4 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(scripts, fc.integer({ min: 1, max: 4 }), async (script, maxAttempts) => {
        const { ledger, rows, log } = await run(script, { maxAttempts });
        for (const [index, outcomes] of script.entries()) {
          const first = outcomes.findIndex((of) => !isRetried(of));
          const wanted = first === -1 ? maxAttempts : Math.min(first + 1, maxAttempts);
          const of = ledger.filter((entry) => entry.prompt_index === index);
          expect(of.map((entry) => entry.outcome)).toEqual(outcomes.slice(0, wanted));
        }
        expect(rows).toHaveLength(ledger.length);
        expect(log.at(-1)).toBe('close 7');
      }),
    );
  });

  it('stops the run at a refusal of key or credit, recording the attempt that met it', async () => {
    const { ledger, stop, tries } = await run([['failed/auth'], ['completed']]);
    expect(stop.reason).toMatchObject({ kind: 'refused' });
    expect(ledger.map((entry) => entry.outcome)).toEqual(['failed/auth']);
    expect(tries.has(1)).toBe(false);
  });

  it('records nothing of a prompt that is handed back, and closes the batch', async () => {
    const { log } = await run([['handed_back'], ['completed']]);
    expect(log).toEqual(['row 1.1', 'commit 1.1', 'close 7']);
  });

  it('starts nothing that may not start', async () => {
    const { log, tries } = await run([['completed']], { mayStart: () => false });
    expect(tries.size).toBe(0);
    expect(log).toEqual(['close 7']);
  });

  it('commits no row that could not be made durable, and stops the run', async () => {
    const stop = createRunStop();
    const store = {
      append: () => Promise.reject(new Error('disk full')),
      close: () => Promise.resolve(),
    };
    await expect(run([['completed'], ['completed']], { store, stop })).rejects.toThrow('disk full');
    expect(stop.reason).toEqual({ kind: 'storage', reason: 'disk full' });
  });
});
