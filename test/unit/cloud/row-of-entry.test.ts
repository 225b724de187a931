import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { rowOfEntry } from '../../../src/core/cloud/row-of-entry.ts';
import { parseDatasetRow } from '../../../src/core/dataset/dataset-row.ts';
import { promptHash, promptId } from '../../../src/core/dataset/prompt-id.ts';
import { ImageUnavailableError } from '../../../src/core/ports/sandbox.ts';
import { ledgerEntryOf } from '../../../src/core/run/ledger-entry.ts';
import { runPrompt } from '../../../src/core/work/run-prompt.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

it('makes of a ledger entry the row that a local run has of an image that is not to be had', async () => {
  const parsed = parseDatasetRow('{"prompt":"Say “hi”.","image":"gone:1","n":1.50,"cwd":"/w"}');
  if (!parsed.ok) throw new Error(parsed.reason);
  const { row } = parsed;
  const id = promptId(promptHash(row, sha256Hex), 3);
  const local = await runPrompt(
    { promptId: id, promptIndex: 4, sample: 1, row },
    { promptId: id, promptIndex: 4, sample: 1, batch: 7, attempt: 2 },
    {
      runName: 'mine',
      model: 'some/model',
      maxTurns: 3,
      timeoutMs: 1000,
      keepWithoutReasoning: false,
      validToolNames: new Set(),
    },
    {
      model: { complete: () => Promise.reject(new Error('not asked')) } as never,
      sandboxes: {
        open: () => Promise.reject(new ImageUnavailableError('gone:1: manifest unknown')),
      } as never,
      clock: { now: () => 1_700_000_000_000, monotonic: () => 5, sleep: async () => undefined },
      observer: {} as never,
      drawToolsets: () => ['terminal', 'file'],
      toolsOf: () => new Map(),
      pinOf: (image) => image,
      redact: (text) => text,
      handBack: new AbortController().signal,
    },
  );
  if (local === 'handed_back') throw new Error('expected a row');
  expect(local.outcome).toBe('failed/image_unavailable');
  const made = rowOfEntry(ledgerEntryOf(local, 1, false), 'mine', row);
  // The order of the keys too: the bytes are the same.
  expect(JSON.stringify(made)).toBe(JSON.stringify(local));
});
