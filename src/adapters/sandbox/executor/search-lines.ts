import type { SearchMatch } from '../../../core/ports/sandbox.ts';
import type { ContentPattern } from './content-pattern.ts';
import { openRegularFile, readStart } from './open-regular-file.ts';
import type { SearchBudget } from './search-budget.ts';

const MAX_FILE = 10_000_000;
const BINARY_PROBE = 8_192;
/** Characters of a line that are given; readers cut further. */
const MAX_LINE = 10_000;

export type SearchEnd = 'done' | 'skipped' | 'limit' | 'timeout';

export interface SearchedFile {
  real: string;
  /** As shown. */
  path: string;
  pattern: ContentPattern;
  /** Lines around each match. */
  context: number;
}

/**
 * Appends a file's matching lines, each with its context lines, in the order of their numbers, no
 * line twice. `skipped`: the file or a line of it could not be searched whole.
 */
export async function searchLines(
  file: SearchedFile,
  budget: SearchBudget,
  into: SearchMatch[],
): Promise<SearchEnd> {
  const text = await readText(file);
  if (text === undefined) return 'skipped';
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const keeper = createLineKeeper(file, lines, budget, into);
  let end: SearchEnd = 'done';
  for (const [index, line] of lines.entries()) {
    if (budget.slice.isOver() && (await budget.slice.pause())) return 'timeout';
    if (line.length > file.pattern.reach) end = 'skipped';
    if (!keeper.see(index, file.pattern.test(line))) return 'limit';
  }
  return end;
}

function createLineKeeper(
  file: SearchedFile,
  lines: readonly string[],
  budget: SearchBudget,
  into: SearchMatch[],
) {
  let keptUpTo = 0;
  let contextUpTo = 0;

  function keep(index: number, isMatch: boolean): boolean {
    const text = (lines[index] ?? '').slice(0, MAX_LINE);
    if (!budget.takeText(text.length)) return false;
    into.push({ path: file.path, line: index + 1, text, isMatch });
    keptUpTo = index + 1;
    return true;
  }

  function keepMatch(index: number): boolean {
    if (!budget.takeMatch()) return false;
    for (let before = Math.max(keptUpTo, index - file.context); before < index; before += 1) {
      if (!keep(before, false)) return false;
    }
    contextUpTo = index + 1 + file.context;
    return keep(index, true);
  }

  return {
    /** To be called line by line; false where nothing more may be kept. */
    see(index: number, isMatch: boolean): boolean {
      if (isMatch) return keepMatch(index);
      return index >= contextUpTo || keep(index, false);
    },
  };
}

async function readText(file: SearchedFile): Promise<string | undefined> {
  try {
    const opened = await openRegularFile(file.real, file.path);
    try {
      if (opened.size > MAX_FILE) return undefined;
      const bytes = await readStart(opened, MAX_FILE);
      return bytes.subarray(0, BINARY_PROBE).includes(0) ? '' : bytes.toString('utf8');
    } finally {
      await opened.handle.close();
    }
  } catch {
    // One unreadable file is no reason to withhold the others' matches.
    return undefined;
  }
}
