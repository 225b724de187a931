import { startConversation } from '../agent/conversation.ts';
import type { DatasetRow } from '../dataset/dataset-row.ts';
import type { LedgerEntry } from '../run/ledger-entry.ts';
import { outcomeClass } from '../trajectory/outcome.ts';
import { toolErrorCounts } from '../trajectory/tool-stats.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/**
 * The row of an attempt that ended before any worker ran it (no image, cancelled): just the prompt,
 * as an attempt leaves it that finds no sandbox. All else stands in its ledger entry.
 */
export function rowOfEntry(entry: LedgerEntry, runName: string, row: DatasetRow): Trajectory {
  const { turns, stats } = startConversation(row.prompt, (text) => text);
  return {
    prompt_index: entry.prompt_index,
    conversations: turns,
    metadata: {
      batch_num: entry.batch,
      timestamp: entry.timing.ended_at,
      model: entry.model,
      run_name: runName,
      prompt_id: entry.prompt_id,
      sample: entry.sample,
      image: entry.image,
      source: row.source,
    },
    completed: entry.outcome === 'completed',
    partial: outcomeClass(entry.outcome) === 'partial',
    outcome: entry.outcome,
    reason: entry.reason,
    api_calls: entry.api_calls,
    toolsets_used: entry.toolsets,
    tool_stats: stats,
    tool_error_counts: toolErrorCounts(stats),
    usage: entry.usage,
    timing: entry.timing,
  };
}
