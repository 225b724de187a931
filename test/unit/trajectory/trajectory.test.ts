import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOL_NAMES } from '../../../src/core/toolsets/registry.ts';
import {
  trajectoryJsonSchema,
  trajectoryLine,
  trajectorySchema,
} from '../../../src/core/trajectory/trajectory.ts';
import { trajectoryRow, trajectoryRowWithCall, turn } from './trajectory-row.ts';

/** A row all of whose free texts are `text`. */
function rowOf(text: string) {
  const call = { id: text, name: text, arguments: text };
  return trajectoryRow(0, {
    conversations: [
      turn({ value: text, reasoning: text, tool_calls: [call], tool_call_id: text, name: text }),
    ],
    metadata: { ...trajectoryRow(0).metadata, source: text, image: text, model: text },
    reason: text,
    toolsets_used: [text],
  });
}

describe('trajectoryLine', () => {
  it.each([
    ['a plain row', trajectoryRow(0)],
    ['a row with a call', trajectoryRowWithCall(7)],
    ['an unknown cost', trajectoryRow(1, { usage: { ...trajectoryRow(1).usage, cost_usd: null } })],
    ['no turns', trajectoryRow(2, { conversations: [] })],
  ])('comes back whole: %s', (_name, row) => {
    expect(trajectorySchema.parse(JSON.parse(trajectoryLine(row)))).toEqual(row);
  });

  it('is one line for any reader, and valid UTF-8, whatever the texts', () => {
    const piece = fc.constantFrom(
      '\u2028',
      '\u2029',
      '\ud800',
      '\udfff',
      '\\',
      '"',
      '\n',
      '\r',
      'u',
    );
    const text = fc.oneof(fc.string({ unit: piece }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(text, (value) => {
        const line = trajectoryLine(rowOf(value));
        expect(line).not.toMatch(/[\n\r\u2028\u2029]|\p{Cs}/u);
        expect(trajectorySchema.safeParse(JSON.parse(line)).success).toBe(true);
      }),
    );
  });

  it('keeps every well-formed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(JSON.parse(trajectoryLine(rowOf(value)))).toEqual(rowOf(value));
      }),
    );
    const ends = rowOf('a\u2028b\u2029c\\u2028');
    expect(trajectoryLine(ends)).toContain('a\\u2028b\\u2029c\\\\u2028');
    expect(JSON.parse(trajectoryLine(ends))).toEqual(ends);
  });

  it('writes lone surrogates escaped', () => {
    const read = (text: string) => JSON.parse(trajectoryLine(rowOf(text))).reason;
    expect(read('a\ud800b')).toBe('a\\ud800b');
    expect(read('\udc00\ud800')).toBe('\\udc00\\ud800');
    expect(read('\\\ud800')).toBe('\\\\ud800');
    // What only looks like one stays as it is.
    expect(read('\\ud800 \u{1f600}')).toBe('\\ud800 \u{1f600}');
  });
});

describe('the schema', () => {
  const row = () => trajectoryRow(0);

  it.each([
    ['a missing field', { ...row(), reason: undefined }],
    ['a field that is null', { ...row(), toolsets_used: null }],
    ['an unknown outcome', { ...row(), outcome: 'failed' }],
    ['a negative count', { ...row(), api_calls: -1 }],
    ['a broken count', { ...row(), prompt_index: 0.5 }],
    [
      'a prompt id without occurrence',
      {
        ...row(),
        metadata: { ...row().metadata, prompt_id: 'a'.repeat(64) },
      },
    ],
    ['a tool without its counts', { ...row(), tool_stats: {} }],
    [
      'a tool with half its counts',
      {
        ...row(),
        tool_stats: { ...row().tool_stats, terminal: { count: 1 } },
      },
    ],
    [
      'a turn without its calls',
      {
        ...row(),
        conversations: [{ ...turn({}), tool_calls: undefined }],
      },
    ],
    ['a role of another format', { ...row(), conversations: [{ ...turn({}), from: 'user' }] }],
    ['attempt 0', { ...row(), timing: { ...row().timing, attempt: 0 } }],
    ['a cost below 0', { ...row(), usage: { ...row().usage, cost_usd: -1 } }],
  ])('refuses %s', (_name, value) => {
    expect(trajectorySchema.safeParse(row()).success).toBe(true);
    expect(trajectorySchema.safeParse(value).success).toBe(false);
  });

  it('takes tools outside the table', () => {
    const stats = { ...row().tool_stats, mcp_search: { count: 1, success: 1, failure: 0 } };
    const errors = { ...row().tool_error_counts, mcp_search: 0 };
    const extended = { ...row(), tool_stats: stats, tool_error_counts: errors };
    expect(trajectorySchema.parse(extended)).toEqual(extended);
  });

  it('is published as JSON Schema with every field required and every tool named', () => {
    const shape = z.object({
      required: z.array(z.string()),
      properties: z.object({
        tool_stats: z.object({ required: z.array(z.string()) }),
        tool_error_counts: z.object({ required: z.array(z.string()) }),
      }),
    });
    const { required, properties } = shape.parse(trajectoryJsonSchema());
    expect(required).toEqual(Object.keys(row()));
    expect(properties.tool_stats.required).toEqual([...TOOL_NAMES]);
    expect(properties.tool_error_counts.required).toEqual([...TOOL_NAMES]);
  });
});
