export interface HunkLine {
  sign: ' ' | '-' | '+';
  text: string;
}

export interface Hunk {
  /** Lines of the file that come before it, outermost first (`@@ class A`, `@@ def f`). */
  anchors: string[];
  lines: HunkLine[];
  /** `*** End of File` stands after it. */
  isAtEnd: boolean;
  /** 1-based line of the patch on which it begins. */
  patchLine: number;
}

/** The numbers of a unified diff, which say nothing that the lines don't. */
const NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@)?/;

/** Takes one line below `*** Update File`. */
export function takeHunkLine(line: string, number: number, hunks: Hunk[]): void {
  if (line.startsWith('@@')) {
    const last = hunks.at(-1);
    const isContinued = last !== undefined && last.lines.length === 0 && !last.isAtEnd;
    const hunk = isContinued ? last : newHunk(hunks, number);
    const anchor = line
      .slice(2)
      .trim()
      .replace(NUMBERS, '')
      .replace(/\s*@@$/, '')
      .trim();
    if (anchor !== '') hunk.anchors.push(anchor);
    return;
  }
  if (line.startsWith('\\ No newline')) return;
  const last = hunks.at(-1);
  const hunk = last === undefined || last.isAtEnd ? newHunk(hunks, number) : last;
  const sign = line[0];
  if (sign === ' ' || sign === '-' || sign === '+') hunk.lines.push({ sign, text: line.slice(1) });
  // A context line whose space was forgotten: it has to occur in the file all the same.
  else hunk.lines.push({ sign: ' ', text: line });
}

function newHunk(hunks: Hunk[], patchLine: number): Hunk {
  const hunk: Hunk = { anchors: [], lines: [], isAtEnd: false, patchLine };
  hunks.push(hunk);
  return hunk;
}

/** Takes `*** End of File`. */
export function endHunk(hunks: Hunk[]): undefined {
  const last = hunks.at(-1);
  if (last !== undefined) last.isAtEnd = true;
}

/** The hunks that have lines, without blank ones around them, which stand for layout. */
export function tidied(hunks: readonly Hunk[]): Hunk[] {
  for (const { lines } of hunks) {
    while (isBlank(lines.at(-1))) lines.pop();
    while (isBlank(lines[0])) lines.shift();
  }
  return hunks.filter(({ lines }) => lines.length > 0);
}

function isBlank(line: HunkLine | undefined): boolean {
  return line !== undefined && line.sign === ' ' && line.text === '';
}
