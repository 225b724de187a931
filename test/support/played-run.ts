import { createHash } from 'node:crypto';
import { rowOfEntry } from '../../src/core/cloud/row-of-entry.ts';
import { parseDatasetRow } from '../../src/core/dataset/dataset-row.ts';
import { createManifest } from '../../src/core/run/create-manifest.ts';
import { parseRunConfig } from '../../src/core/run/flag-values.ts';
import type { LedgerEntry } from '../../src/core/run/ledger-entry.ts';
import { type RunFile, storedSettings } from '../../src/core/run/manifest.ts';
import { type IndexedRow, type PlannedPrompt, promptsOf } from '../../src/core/run/plan-batches.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import { chooseToolsets } from '../../src/core/toolsets/choose-toolsets.ts';
import type { Outcome } from '../../src/core/trajectory/outcome.ts';
import type { Trajectory } from '../../src/core/trajectory/trajectory.ts';

export const CREATED = '2026-03-01T10:00:00.000Z';

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

export function playedRunFile(runName: string, lines: readonly string[]) {
  const config = parseRunConfig(
    { run_name: runName, dataset_file: 'prompts.jsonl', batch_size: 2, model: 'rehearsal' },
    (key) => key,
  );
  const toolsets = chooseToolsets(config, {
    tools: BUILTIN_TOOLS,
    sha256Hex,
    own: [],
    source: (key) => key,
  });
  const manifest = createManifest({
    config,
    toolsets,
    hashes: { ephemeral_system_prompt_sha256: '', prefill_messages_sha256: '' },
    talaria: '0.1.0',
    node: 'v22.0.0',
    now: Date.parse(CREATED),
  });
  const runFile = {
    ...storedSettings(config),
    manifest,
    passes: [
      {
        pass: 1,
        started_at: CREATED,
        dataset_file: 'prompts.jsonl',
        dataset_sha256: sha256Hex(lines.join('')),
        rows: lines.length,
        invalid_rows: 0,
        input_of_pass: 1,
        samples_per_prompt: 1,
        max_samples: null,
      },
    ],
  } as RunFile;
  return { runFile, draw: toolsets.draw };
}

export function playedPlan(lines: readonly string[]) {
  async function* rows(): AsyncGenerator<IndexedRow> {
    for (const [index, line] of lines.entries()) {
      const parsed = parseDatasetRow(line);
      if (parsed.ok) yield { index, row: parsed.row };
    }
  }
  return promptsOf(rows(), { samplesPerPrompt: 1, sha256Hex });
}

export interface PlayedAttempt {
  batch: number;
  outcome: Outcome;
  attempt: number;
  prompt: PlannedPrompt;
  toolsets: string[];
  rowBytes: number;
}

export function playedRow(run: RunFile, of: PlayedAttempt): Trajectory {
  const ended = new Date(Date.parse(CREATED) + (of.prompt.promptIndex + of.attempt) * 1000);
  const entry: LedgerEntry = {
    prompt_id: of.prompt.promptId,
    prompt_index: of.prompt.promptIndex,
    sample: of.prompt.sample,
    pass: 1,
    batch: of.batch,
    outcome: of.outcome,
    reason: of.outcome === 'completed' ? '' : 'as played',
    model: 'rehearsal',
    image: of.prompt.row.image,
    toolsets: of.toolsets,
    api_calls: of.outcome.startsWith('failed') ? 0 : 2,
    usage: {
      prompt_tokens: 10 + of.prompt.promptIndex,
      completion_tokens: 3,
      total_tokens: 13 + of.prompt.promptIndex,
      reasoning_tokens: 1,
      cached_tokens: 0,
      cost_usd: 0.1 * of.attempt,
    },
    timing: {
      attempt: of.attempt,
      started_at: CREATED,
      ended_at: ended.toISOString(),
      total_seconds: 1 + of.attempt / 10,
      model_seconds: 0.3,
      tool_seconds: 0.1,
      sandbox_seconds: 0.2,
    },
    tools: {},
    assistant_turns: 0,
    turns_with_reasoning: 0,
    adopted: false,
  };
  const row = rowOfEntry(entry, run.run_name ?? '', of.prompt.row);
  if (of.rowBytes === 0) return row;
  const turn = { from: 'gpt' as const, reasoning: 'r', tool_calls: [], tool_call_id: '', name: '' };
  return {
    ...row,
    conversations: [...row.conversations, { ...turn, value: 'x'.repeat(of.rowBytes) }],
  };
}
