import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOOL_NAMES } from '../../../src/core/toolsets/registry.ts';
import {
  countToolCall,
  emptyToolStats,
  toolErrorCounts,
  toolSucceeded,
} from '../../../src/core/trajectory/tool-stats.ts';

describe('toolSucceeded', () => {
  it.each([
    '{"output":"x","exit_code":1,"error":null}',
    '{"output":"","exit_code":127}',
    '{"error":""}',
    '{"error":false,"success":true}',
    '{"success":"false"}',
    '{"success":null}',
    '{"success":0}',
    '{"content":{"error":null}}',
    '{"content":{"success":false}}',
    '{"content":"error: no"}',
    '{"content":["error"]}',
    '{"nested":{"error":"x"}}',
    '[{"error":"x"}]',
    '"error"',
    'null',
    'plain text',
    'an error: later in the text',
    '{"error":"torn',
    '0',
  ])('%s succeeded', (result) => {
    expect(toolSucceeded(result)).toBe(true);
  });

  it.each([
    '{"error":"no such file"}',
    ' \n{"error": "after white space"}\n',
    '{"error":{"code":1}}',
    '{"error":1}',
    '{"error":true}',
    '{"success":false}',
    '{"success":false,"output":"x"}',
    '{"content":{"error":"inner"}}',
    'error: no',
    'Error: no',
    '  ERROR: no',
    '',
    ' \n\t',
  ])('%j failed', (result) => {
    expect(toolSucceeded(result)).toBe(false);
  });

  it('has an answer for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(typeof toolSucceeded(text)).toBe('boolean');
      }),
    );
  });
});

describe('the counts', () => {
  it('have every tool name from the start, and the extra ones', () => {
    const stats = emptyToolStats(['mcp_search']);
    expect(Object.keys(stats)).toEqual([...TOOL_NAMES, 'mcp_search']);
    expect(Object.values(stats)).toEqual(
      Object.keys(stats).map(() => ({ count: 0, success: 0, failure: 0 })),
    );
  });

  it('count calls one tool at a time and leave unknown names out', () => {
    const stats = emptyToolStats();
    countToolCall(stats, 'terminal', true);
    countToolCall(stats, 'terminal', false);
    countToolCall(stats, 'terminal', false);
    countToolCall(stats, 'patch', true);
    for (const name of ['unknown', 'toString', '__proto__', '']) countToolCall(stats, name, true);
    expect(stats).toEqual({
      ...emptyToolStats(),
      terminal: { count: 3, success: 1, failure: 2 },
      patch: { count: 1, success: 1, failure: 0 },
    });
    const errors = toolErrorCounts(stats);
    expect(Object.keys(errors)).toEqual([...TOOL_NAMES]);
    expect(Object.entries(errors).filter(([, count]) => count > 0)).toEqual([['terminal', 2]]);
  });
});
