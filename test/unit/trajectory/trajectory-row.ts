import { emptyToolStats, toolErrorCounts } from '../../../src/core/trajectory/tool-stats.ts';
import type { Trajectory, Turn } from '../../../src/core/trajectory/trajectory.ts';
import { NO_USAGE } from '../../../src/core/trajectory/usage.ts';

/** A turn with every field, most of them empty. */
export function turn(fields: Partial<Turn>): Turn {
  return {
    from: 'gpt',
    value: '',
    reasoning: '',
    tool_calls: [],
    tool_call_id: '',
    name: '',
    ...fields,
  };
}

/** A valid row, completed without a tool call unless told otherwise. */
export function trajectoryRow(index: number, fields: Partial<Trajectory> = {}): Trajectory {
  const stats = emptyToolStats();
  return {
    prompt_index: index,
    conversations: [
      turn({ from: 'human', value: `prompt ${index}` }),
      turn({ value: 'answer', reasoning: 'thought' }),
    ],
    metadata: {
      batch_num: 0,
      timestamp: '2026-01-02T03:04:05.678Z',
      model: 'some/model',
      run_name: 'first',
      prompt_id: `${index.toString(16).padStart(64, '0')}-0`,
      sample: 0,
      image: '',
      source: '{}',
    },
    completed: true,
    partial: false,
    outcome: 'completed',
    reason: '',
    api_calls: 1,
    toolsets_used: [],
    tool_stats: stats,
    tool_error_counts: toolErrorCounts(stats),
    usage: NO_USAGE,
    timing: {
      attempt: 1,
      started_at: '2026-01-02T03:04:00.000Z',
      ended_at: '2026-01-02T03:04:05.678Z',
      total_seconds: 5.678,
      model_seconds: 5,
      tool_seconds: 0,
      sandbox_seconds: 0,
    },
    ...fields,
  };
}

/** A valid row with one call of `terminal` and its result. */
export function trajectoryRowWithCall(index: number, fields: Partial<Trajectory> = {}): Trajectory {
  const stats = emptyToolStats();
  stats['terminal'] = { count: 1, success: 0, failure: 1 };
  const call = { id: 'call_1', name: 'terminal', arguments: '{"command":"ls"}' };
  return trajectoryRow(index, {
    conversations: [
      turn({ from: 'human', value: `prompt ${index}` }),
      turn({ reasoning: 'thought', tool_calls: [call] }),
      turn({ from: 'tool', value: '{"error":"no"}', tool_call_id: 'call_1', name: 'terminal' }),
      turn({ value: 'answer' }),
    ],
    toolsets_used: ['terminal'],
    tool_stats: stats,
    tool_error_counts: toolErrorCounts(stats),
    api_calls: 2,
    ...fields,
  });
}
