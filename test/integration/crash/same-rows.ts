import { expect } from 'vitest';
import type { Trajectory } from '../../../src/core/trajectory/trajectory.ts';
import type { StoredRun } from '../../support/run-files.ts';

/** Whether two runs of the same seed have the same rows, but for times, call ids and batches. */
export function expectSameRows(run: StoredRun, undisturbed: StoredRun): void {
  for (const kind of ['trajectories', 'discarded', 'failed'] as const) {
    const rows = byPrompt(run[kind]);
    const expected = byPrompt(undisturbed[kind]);
    expect([...rows.keys()].sort(), kind).toEqual([...expected.keys()].sort());
    for (const [promptId, row] of rows) expect(row).toEqual(expected.get(promptId));
  }
}

function byPrompt(rows: readonly Trajectory[]): Map<string, unknown> {
  return new Map(rows.map((row) => [row.metadata.prompt_id, comparable(row)]));
}

function comparable(row: Trajectory): unknown {
  const { timing: _timing, metadata, conversations, ...rest } = row;
  const { timestamp: _timestamp, batch_num: _batch, run_name: _run, ...lasting } = metadata;
  return {
    ...rest,
    metadata: lasting,
    conversations: conversations.map(({ tool_call_id: _id, tool_calls, ...turn }) => ({
      ...turn,
      tool_calls: tool_calls.map(({ id: _callId, ...call }) => call),
    })),
  };
}
