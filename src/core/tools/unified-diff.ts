import type { Edit } from './find-occurrences.ts';
import { type LineChange, lineChanges, splitLines } from './line-changes.ts';

const CONTEXT = 3;

/**
 * A unified diff of known edits, in time linear in the text. Edits come in order and don't overlap.
 */
export function unifiedDiff(path: string, before: string, edits: readonly Edit[]): string {
  const lines = splitLines(before);
  const hunks: string[][] = [];
  let shift = 0;
  for (const hunk of hunksOf(lineChanges(lines, edits))) {
    const from = Math.max(0, (hunk[0]?.from ?? 0) - CONTEXT);
    const to = Math.min(lines.length, (hunk.at(-1)?.to ?? 0) + CONTEXT);
    const grown = hunk.reduce((sum, of) => sum + of.lines.length - (of.to - of.from), 0);
    const oldRange = rangeOf(from, to - from);
    const newRange = rangeOf(from + shift, to - from + grown);
    hunks.push([`@@ -${oldRange} +${newRange} @@`], hunkBody(lines, hunk, from, to));
    shift += grown;
  }
  const header = [`--- a/${path}`, `+++ b/${path}`];
  return `${header.concat(hunks.flat()).join('\n')}\n`;
}

function hunksOf(changes: readonly LineChange[]): LineChange[][] {
  const hunks: LineChange[][] = [];
  for (const change of changes) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk !== undefined && last !== undefined && change.from - last.to <= 2 * CONTEXT) {
      hunk.push(change);
    } else hunks.push([change]);
  }
  return hunks;
}

function hunkBody(
  lines: readonly string[],
  hunk: readonly LineChange[],
  from: number,
  to: number,
): string[] {
  // Lists of lists: a spread of a long change would overrun the stack.
  const body: string[][] = [];
  let at = from;
  for (const change of hunk) {
    body.push(marked(' ', lines.slice(at, change.from)));
    body.push(marked('-', lines.slice(change.from, change.to)));
    body.push(marked('+', change.lines));
    at = change.to;
  }
  body.push(marked(' ', lines.slice(at, to)));
  return body.flat();
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n')
      ? [`${sign}${line.slice(0, -1)}`]
      : [`${sign}${line}`, '\\ No newline at end of file'],
  );
}

/** An empty range is named by the line before it. */
function rangeOf(from: number, count: number): string {
  if (count === 1) return String(from + 1);
  return `${count === 0 ? from : from + 1},${count}`;
}
