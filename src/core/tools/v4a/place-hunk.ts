import { nearestLines } from '../nearest-lines.ts';
import type { Hunk } from './hunk.ts';
import { type LineIndex, SAMENESS } from './line-index.ts';

/** Lines `from` to `to` (0-based, `to` not included) of the file that a hunk speaks of. */
export interface Place {
  from: number;
  to: number;
}

export interface PlacedFile {
  lines: readonly string[];
  index: LineIndex;
  /** Places of the hunks before. */
  taken: readonly Place[];
}

export type Placed = { ok: true; place: Place } | { ok: false; problem: string };

/**
 * Finds the one place of a hunk: exactly, else without regard to blanks at line ends, else to
 * indentation. After the hunk before if it is there, behind its `@@` lines where there are several.
 * Never guesses between two places.
 */
export function placeHunk(hunk: Hunk, file: PlacedFile): Placed {
  const wanted = hunk.lines.filter(({ sign }) => sign !== '+').map(({ text }) => text);
  const anchor = anchorOf(hunk.anchors, file);
  if (wanted.length === 0) return placeInsertion(hunk, file, anchor);
  for (const same of SAMENESS) {
    const free = file.index
      .find(wanted, same)
      .map((from) => ({ from, to: from + wanted.length }))
      .filter((place) => !file.taken.some((of) => of.from < place.to && place.from < of.to));
    const found = chosen(free, hunk, file, anchor);
    if (found !== undefined) return found;
  }
  return { ok: false, problem: notFound(wanted, file.lines) };
}

function chosen(
  free: readonly Place[],
  hunk: Hunk,
  { lines, taken }: PlacedFile,
  anchor: number | undefined,
): Placed | undefined {
  if (free.length === 0) return undefined;
  const atEnd = free.filter(({ to }) => to === lines.length);
  const [last] = atEnd;
  if (hunk.isAtEnd && last !== undefined) return { ok: true, place: last };
  // A hunk may repeat its `@@` line as its first.
  const behind = anchor === undefined ? [] : free.filter(({ from }) => from >= anchor);
  const [first] = behind;
  if (first !== undefined) return { ok: true, place: first };
  const before = Math.max(0, ...taken.map(({ to }) => to));
  const later = free.filter(({ from }) => from >= before);
  const candidates = later.length > 0 ? later : free;
  const [only] = candidates;
  if (candidates.length === 1 && only !== undefined) return { ok: true, place: only };
  const where = candidates.slice(0, 5).map(({ from }) => from + 1);
  return {
    ok: false,
    problem: `its lines occur ${candidates.length} times (lines ${where.join(', ')}${candidates.length > where.length ? ', …' : ''}); give more context lines, or an "@@ " line with text that stands only before the right place`,
  };
}

/** Behind its `@@` line, or at the end where asked for or nothing else is. */
function placeInsertion(hunk: Hunk, { lines }: PlacedFile, anchor: number | undefined): Placed {
  if (hunk.isAtEnd || lines.length === 0) {
    return { ok: true, place: { from: lines.length, to: lines.length } };
  }
  if (anchor !== undefined) return { ok: true, place: { from: anchor + 1, to: anchor + 1 } };
  const [name] = hunk.anchors.slice(-1);
  const problem =
    name === undefined
      ? 'it adds lines and does not say where; give a context line before or after them, an "@@ " line, or "*** End of File"'
      : `its line "@@ ${name}" does not occur${nearest(name, lines)}`;
  return { ok: false, problem };
}

/** The line that the last of the anchors names, each looked for behind the one before. */
function anchorOf(anchors: readonly string[], { lines, index }: PlacedFile): number | undefined {
  let at: number | undefined;
  for (const anchor of anchors) {
    const from = at === undefined ? 0 : at + 1;
    at =
      index.find([anchor], trimmed).find((line) => line >= from) ??
      lines.findIndex((line, number) => number >= from && line.includes(anchor));
    if (at === -1) return undefined;
  }
  return at;
}

function trimmed(line: string): string {
  return line.trim();
}

function notFound(wanted: readonly string[], lines: readonly string[]): string {
  const first = wanted.find((line) => line.trim() !== '') ?? '';
  const there = new Set(lines.map(trimmed));
  const missing = wanted.find((line) => !there.has(line.trim()));
  const named =
    missing === undefined
      ? 'its lines are all there, but not one after another'
      : `its line ${JSON.stringify(missing.slice(0, 200))} does not occur`;
  return `${named}${nearest(missing ?? first, lines)}`;
}

function nearest(wanted: string, lines: readonly string[]): string {
  const found = nearestLines(lines.join('\n'), wanted).map(({ line, text }) => `${line}|${text}`);
  if (found.length === 0) return '; nothing like it is there, use read_file to see the text';
  return `; lines most like it:\n${found.join('\n')}`;
}
