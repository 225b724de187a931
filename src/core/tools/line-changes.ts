import { applyEdits, type Edit } from './find-occurrences.ts';

/** Lines `from` to `to` (0-based, `to` not included) of the old text, replaced by new ones. */
export interface LineChange {
  from: number;
  to: number;
  lines: string[];
}

/** Each line with its newline; the last may have none. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Edits, in order and not overlapping, as changes of whole lines. */
export function lineChanges(lines: readonly string[], edits: readonly Edit[]): LineChange[] {
  const starts = lineStarts(lines);
  const changes: LineChange[] = [];
  for (const group of groupsOf(edits, starts)) {
    const start = starts[group.from] ?? 0;
    const shifted = group.edits.map((edit) => ({
      ...edit,
      start: edit.start - start,
      end: edit.end - start,
    }));
    const old = lines.slice(group.from, group.to).join('');
    const changed = splitLines(applyEdits(old, shifted));
    changes.push(trimmed(lines, { from: group.from, to: group.to, lines: changed }));
  }
  return changes.filter(({ from, to, lines: added }) => from < to || added.length > 0);
}

interface Group {
  from: number;
  to: number;
  edits: Edit[];
}

/** Edits that touch the same line stay together. */
function groupsOf(edits: readonly Edit[], starts: readonly number[]): Group[] {
  const groups: Group[] = [];
  for (const edit of edits) {
    const from = lineAt(starts, edit.start);
    // The line after a replaced newline may be drawn in; `trimmed` gives it back if not.
    const to = Math.min(starts.length, lineAt(starts, edit.end) + 1);
    const last = groups.at(-1);
    if (last !== undefined && from < last.to) {
      last.edits.push(edit);
      last.to = Math.max(last.to, to);
    } else groups.push({ from, to, edits: [edit] });
  }
  return groups;
}

function lineStarts(lines: readonly string[]): number[] {
  let at = 0;
  return lines.map((line) => {
    at += line.length;
    return at - line.length;
  });
}

/** The last line that begins at or before an offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Without the lines at both ends that the change leaves as they are. */
function trimmed(lines: readonly string[], change: LineChange): LineChange {
  const length = Math.min(change.to - change.from, change.lines.length);
  let before = 0;
  while (before < length && change.lines[before] === lines[change.from + before]) before += 1;
  let after = 0;
  while (after < length - before && change.lines.at(-1 - after) === lines[change.to - 1 - after]) {
    after += 1;
  }
  return {
    from: change.from + before,
    to: change.to - after,
    lines: change.lines.slice(before, change.lines.length - after),
  };
}
