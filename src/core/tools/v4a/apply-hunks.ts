import type { Edit } from '../find-occurrences.ts';
import type { Hunk } from './hunk.ts';
import { createLineIndex } from './line-index.ts';
import { type Place, placeHunk } from './place-hunk.ts';
import { reindent } from './reindent.ts';

export type HunkEdits = { ok: true; edits: Edit[] } | { ok: false; problems: string[] };

/** Edits that make a text's hunks come true, in the text's order; or what is wrong with which hunk. */
export function hunkEdits(content: string, hunks: readonly Hunk[]): HunkEdits {
  const text = textLines(content);
  const index = createLineIndex(text.lines);
  const taken: Place[] = [];
  const edits: Edit[] = [];
  const problems: string[] = [];
  for (const [number, hunk] of hunks.entries()) {
    const placed = placeHunk(hunk, { lines: text.lines, index, taken });
    if (placed.ok) {
      taken.push(placed.place);
      edits.push(...editsOf(hunk, placed.place, text));
    } else
      problems.push(`hunk ${number + 1} (line ${hunk.patchLine} of the patch): ${placed.problem}`);
  }
  if (problems.length > 0) return { ok: false, problems };
  // Equal starts are insertions at one place: they stay in the patch's order.
  return { ok: true, edits: edits.sort((a, b) => a.start - b.start || a.end - b.end) };
}

interface TextLines {
  /** Without their line ends. */
  lines: string[];
  /** Where each begins, and at the end the text's length. */
  starts: number[];
  newline: '\n' | '\r\n';
  endsInNewline: boolean;
}

function textLines(content: string): TextLines {
  const raw = content.split('\n');
  const endsInNewline = raw.at(-1) === '';
  if (endsInNewline) raw.pop();
  const starts: number[] = [];
  let at = 0;
  for (const line of raw) {
    starts.push(at);
    at += line.length + 1;
  }
  starts.push(content.length);
  const newline = content.includes('\r\n') ? '\r\n' : '\n';
  return { lines: raw.map((line) => line.replace(/\r$/, '')), starts, newline, endsInNewline };
}

function editsOf(hunk: Hunk, place: Place, text: TextLines): Edit[] {
  const added = reindent(hunk.lines, text.lines.slice(place.from, place.to));
  const edits: Edit[] = [];
  let line = place.from;
  let run: { from: number; lines: string[] } | undefined;
  const flush = () => {
    if (run !== undefined) edits.push(editOf(run.from, line, run.lines, text));
    run = undefined;
  };
  for (const [index, { sign }] of hunk.lines.entries()) {
    if (sign === ' ') {
      flush();
      line += 1;
      continue;
    }
    run ??= { from: line, lines: [] };
    if (sign === '+') run.lines.push(added[index] ?? '');
    else line += 1;
  }
  flush();
  return edits;
}

/** Replaces whole lines; a text without a newline at its end stays so. */
function editOf(from: number, to: number, lines: readonly string[], text: TextLines): Edit {
  const start = text.starts[from] ?? 0;
  const end = text.starts[to] ?? start;
  const joined = lines.join(text.newline);
  const isOpenEnd = to === text.lines.length && !text.endsInNewline && text.lines.length > 0;
  if (!isOpenEnd) return { start, end, text: lines.length === 0 ? '' : joined + text.newline };
  const isAppended = from === text.lines.length;
  return { start, end, text: isAppended ? text.newline + joined : joined };
}
