import { z } from 'zod';
import { cutLine } from './cut-text.ts';
import { defineTool } from './define-tool.ts';
import { safeText } from './safe-text.ts';
import { readTextFile } from './text-file.ts';

const MAX_LINES = 2_000;
const MAX_LINE = 2_000;
/** Characters of one result; further lines are left to the next call. */
const MAX_CONTENT = 100_000;
const NEWLINE = 0x0a;

/** Reads a window of lines of a text file. */
export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file, each line with its number in front ("12|text"). Long files come in parts: the result says which offset goes on.',
  args: z.object({
    path: z
      .string()
      .min(1)
      .max(4_096)
      .describe('File, relative to the working directory or absolute.'),
    offset: z.int().min(1).default(1).describe('Number of the first line to read, from 1.'),
    limit: z.int().min(1).max(MAX_LINES).default(500).describe('How many lines to read at most.'),
  }),
  async run({ path, offset, limit }, context) {
    const { bytes, size } = await readTextFile(context.sandbox, path);
    const { window, total } = lineWindow(bytes, offset, limit);
    const lines = linesOf(context.redact(safeText(window)));
    const content = numbered(lines, offset);
    const next = offset + content.count;
    const isTruncated = next <= total;
    return {
      content: content.text,
      total_lines: total,
      file_size: size,
      truncated: isTruncated,
      ...hintOf({ offset, next, total, isTruncated }),
    };
  },
});

/**
 * The bytes of some lines, and how many lines there are: a last line without newline counts, an
 * empty rest does not.
 */
function lineWindow(bytes: Uint8Array, offset: number, limit: number) {
  let total = 0;
  let from = bytes.length;
  let to = bytes.length;
  for (let at = 0; at < bytes.length; ) {
    total += 1;
    if (total === offset) from = at;
    if (total === offset + limit) to = at;
    const end = bytes.indexOf(NEWLINE, at);
    at = end === -1 ? bytes.length : end + 1;
  }
  return { window: bytes.subarray(from, to), total };
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function numbered(lines: readonly string[], offset: number): { text: string; count: number } {
  const shown: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    const entry = `${offset + index}|${cutLine(line.replace(/\r$/, ''), MAX_LINE)}`;
    length += entry.length + 1;
    if (length > MAX_CONTENT && shown.length > 0) break;
    shown.push(entry);
  }
  return { text: shown.join('\n'), count: shown.length };
}

function hintOf(of: { offset: number; next: number; total: number; isTruncated: boolean }) {
  if (of.isTruncated) {
    return {
      hint: `lines ${of.offset} to ${of.next - 1} of ${of.total}; use offset=${of.next} to go on`,
    };
  }
  if (of.offset <= of.total || of.total === 0) return {};
  return { hint: `offset ${of.offset} is after the last line; use one up to ${of.total}` };
}
