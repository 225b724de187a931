import type { HunkLine } from './hunk.ts';

/**
 * The texts of a hunk's lines as the file indents: where all its old lines differ from the file's by
 * the same blanks in front, the new ones get or lose them too.
 */
export function reindent(hunk: readonly HunkLine[], inFile: readonly string[]): string[] {
  const shift = shiftOf(hunk, inFile);
  return hunk.map(({ text }) => {
    if (text.trim() === '') return text;
    if (shift.lost !== '' && text.startsWith(shift.lost)) return text.slice(shift.lost.length);
    return shift.gained + text;
  });
}

interface Shift {
  gained: string;
  lost: string;
}

const NONE: Shift = { gained: '', lost: '' };

function shiftOf(hunk: readonly HunkLine[], inFile: readonly string[]): Shift {
  const old = hunk.filter(({ sign }) => sign !== '+');
  const shifts = old.flatMap(({ text }, index) =>
    text.trim() === '' ? [] : [lineShift(indentOf(text), indentOf(inFile[index] ?? ''))],
  );
  const [first] = shifts;
  const isSame = (of: Shift) => of.gained === first?.gained && of.lost === first.lost;
  return first !== undefined && shifts.every(isSame) ? first : NONE;
}

function lineShift(inPatch: string, inFile: string): Shift {
  if (inFile.endsWith(inPatch)) {
    return { gained: inFile.slice(0, inFile.length - inPatch.length), lost: '' };
  }
  if (inPatch.endsWith(inFile)) {
    return { gained: '', lost: inPatch.slice(0, inPatch.length - inFile.length) };
  }
  return NONE;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
