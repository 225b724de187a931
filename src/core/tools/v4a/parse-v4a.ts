import { endHunk, type Hunk, takeHunkLine, tidied } from './hunk.ts';

export type FileChange =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  /** `moveTo` is "" for none; a mere move has no hunks. */
  | { kind: 'update'; path: string; moveTo: string; hunks: Hunk[] };

export type ParsedPatch = { ok: true; changes: FileChange[] } | { ok: false; error: string };

const MAX_HUNKS = 1_000;
const HEADER = /^\*\*\*\s*(Add|Update|Delete|Move) File:\s*(.+?)\s*$/;
const MOVE_TO = /^\*\*\*\s*Move to:\s*(.+?)\s*$/;
const MARKER = /^\*\*\*\s*(Begin Patch|End Patch|End of File)\s*$/;
/**
 * Reads a patch of the form `*** Begin Patch` … `*** End Patch`. Lenient where the meaning is plain:
 * the frame may be missing, blank context lines may lack their space, numbers after `@@` are passed
 * over. The error names the line and what was expected there.
 */
export function parseV4a(patch: string): ParsedPatch {
  const changes: FileChange[] = [];
  const lines = patch.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const marker = MARKER.exec(line)?.[1];
    if (marker === 'End Patch') break;
    const error = takeLine(line, index + 1, marker === 'End of File', changes);
    if (error !== undefined)
      return { ok: false, error: `line ${index + 1} of the patch: ${error}` };
  }
  for (const change of changes) {
    if (change.kind === 'update') change.hunks = tidied(change.hunks);
  }
  const problem = problemOf(changes);
  return problem === undefined ? { ok: true, changes } : { ok: false, error: problem };
}

function takeLine(
  line: string,
  number: number,
  isEndOfFile: boolean,
  changes: FileChange[],
): string | undefined {
  const header = HEADER.exec(line);
  if (header !== null) return takeHeader(header[1] ?? '', header[2] ?? '', changes);
  const change = changes.at(-1);
  switch (change?.kind) {
    // What stands before the first header is talk.
    case undefined:
      return undefined;
    case 'delete':
      return line.trim() === '' ? undefined : afterDelete(line);
    case 'add':
      return isEndOfFile ? undefined : takeAdded(line, change.lines);
    case 'update':
      return isEndOfFile ? endHunk(change.hunks) : takeUpdated(line, number, change);
  }
}

function takeUpdated(
  line: string,
  number: number,
  change: Extract<FileChange, { kind: 'update' }>,
): string | undefined {
  const moveTo = MOVE_TO.exec(line)?.[1];
  if (moveTo !== undefined) change.moveTo = moveTo;
  else if (line.startsWith('***')) return unknownHeader(line);
  else takeHunkLine(line, number, change.hunks);
  return undefined;
}

function takeHeader(kind: string, path: string, changes: FileChange[]): string | undefined {
  if (kind === 'Add') changes.push({ kind: 'add', path, lines: [] });
  else if (kind === 'Delete') changes.push({ kind: 'delete', path });
  else if (kind === 'Update') changes.push({ kind: 'update', path, moveTo: '', hunks: [] });
  else {
    const [, from, to] = /^(.+?)\s*->\s*(.+)$/.exec(path) ?? [];
    if (from === undefined || to === undefined) {
      return `expected "*** Move File: old -> new", got ${JSON.stringify(path.slice(0, 200))}`;
    }
    changes.push({ kind: 'update', path: from, moveTo: to, hunks: [] });
  }
  return undefined;
}

function takeAdded(line: string, lines: string[]): string | undefined {
  if (line.startsWith('***')) return unknownHeader(line);
  if (line.startsWith('+')) lines.push(line.slice(1));
  // A blank line between two sections.
  else if (line.trim() !== '') {
    return `expected every line of an added file to begin with "+", got ${JSON.stringify(line.slice(0, 80))}`;
  }
  return undefined;
}

function problemOf(changes: readonly FileChange[]): string | undefined {
  if (changes.length === 0) {
    return 'expected "*** Add File: path", "*** Update File: path" or "*** Delete File: path" at the beginning of a line, got none';
  }
  const updates = changes.filter((change) => change.kind === 'update');
  const empty = updates.find(({ hunks, moveTo }) => hunks.length === 0 && moveTo === '');
  if (empty !== undefined) {
    return `${empty.path}: expected lines that begin with "-" or "+" after "*** Update File", got none`;
  }
  const count = updates.reduce((sum, { hunks }) => sum + hunks.length, 0);
  if (count > MAX_HUNKS)
    return `expected at most ${MAX_HUNKS} hunks, got ${count}; send fewer at once`;
  return undefined;
}

function unknownHeader(line: string): string {
  return `expected "*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "*** End of File" or "*** End Patch", got ${JSON.stringify(line.slice(0, 80))}`;
}

function afterDelete(line: string): string {
  return `expected nothing after "*** Delete File", got ${JSON.stringify(line.slice(0, 80))}`;
}
