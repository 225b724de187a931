import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SearchMatch, SearchRequest, SearchResult } from '../../../core/ports/sandbox.ts';
import type { ContentPattern } from './content-pattern.ts';
import { notAFile } from './open-regular-file.ts';
import { type RipgrepDeps, ripgrepFiles } from './ripgrep-files.ts';
import { ripgrepPattern } from './ripgrep-pattern.ts';
import { createSearchBudget, type SearchBudget } from './search-budget.ts';
import { type SearchEnd, searchLines } from './search-lines.ts';
import { type WalkedFile, type WalkReport, walkFiles } from './walk-files.ts';

/** Share of the time that ripgrep may take; the rest is for reading what it found. */
const RIPGREP_SHARE = 0.75;

/**
 * Searches below `real`, or in it where it is a file. Files come in the order of their paths;
 * hidden ones, binary ones (a NUL in their first 8 KiB) and symlinks are left out, larger ones than
 * 10 MB too, which `incomplete` then tells. With ripgrep only files in which it found something are read: the
 * matches are the same, and a large file in which it found nothing was looked at whole. Throws `SandboxFileError` or the system's error.
 */
export async function searchFiles(
  real: string,
  request: SearchRequest,
  ripgrep?: RipgrepDeps,
): Promise<SearchResult> {
  const { isWanted, pattern } = await compile(request);
  const budget = createSearchBudget(request);
  const report: SearchReport = { isIncomplete: false, isOutOfTime: false };
  const matches: SearchMatch[] = [];
  const searchOne = createFileSearch({ request, pattern }, budget, matches);

  for await (const file of filesAt(real, request, report, ripgrep)) {
    if (budget.slice.isOver() && (await budget.slice.pause())) {
      return { matches, incomplete: 'timeout' };
    }
    const end = isWanted(file.relativePath) ? await searchOne(file) : 'done';
    if (end === 'skipped') report.isIncomplete = true;
    else if (end !== 'done') return { matches, incomplete: end };
  }
  if (report.isOutOfTime) return { matches, incomplete: 'timeout' };
  return { matches, incomplete: report.isIncomplete ? 'limit' : 'no' };
}

interface SearchReport extends WalkReport {
  isOutOfTime: boolean;
}

function createFileSearch(
  { request, pattern }: { request: SearchRequest; pattern: ContentPattern | undefined },
  budget: SearchBudget,
  into: SearchMatch[],
): (file: WalkedFile) => Promise<SearchEnd> {
  const pathOf = (file: WalkedFile) => shownPath(request.path, file.relativePath);
  if (pattern === undefined) {
    return async (file) => {
      if (!budget.takeMatch()) return 'limit';
      into.push({ path: pathOf(file), line: 0, text: '', isMatch: true });
      return 'done';
    };
  }
  const { context } = request;
  return (file) =>
    searchLines({ real: file.real, path: pathOf(file), pattern, context }, budget, into);
}

/** Loads what knows patterns when it is first needed: a daemon that never searches starts sooner. */
async function compile(request: SearchRequest) {
  const [{ compileGlob }, { compileContentPattern }] = await Promise.all([
    import('./glob-pattern.ts'),
    import('./content-pattern.ts'),
  ]);
  const isContent = request.target === 'content';
  const globs = request.fileGlob === undefined ? [] : [request.fileGlob];
  const filters = (isContent ? globs : [...globs, request.pattern]).map(compileGlob);
  return {
    isWanted: (path: string) => filters.every((filter) => filter(path)),
    /** Undefined where files are looked for. */
    pattern: isContent ? compileContentPattern(request.pattern) : undefined,
  };
}

async function* filesAt(
  real: string,
  request: SearchRequest,
  report: SearchReport,
  ripgrep: RipgrepDeps | undefined,
): AsyncGenerator<WalkedFile> {
  const at = await stat(real);
  if (at.isFile()) yield { real, relativePath: '' };
  else if (!at.isDirectory()) throw notAFile(basename(request.path));
  else {
    const found = ripgrep && (await foundByRipgrep(real, request, ripgrep));
    if (found === undefined) return yield* walkFiles(real, report);
    report.isIncomplete ||= found.incomplete === 'limit';
    report.isOutOfTime = found.incomplete === 'timeout';
    for (const path of found.paths) yield { real: join(real, path), relativePath: path };
  }
}

async function foundByRipgrep(folder: string, request: SearchRequest, ripgrep: RipgrepDeps) {
  const isContent = request.target === 'content';
  const pattern = isContent ? ripgrepPattern(request.pattern) : undefined;
  if (isContent && pattern === undefined) return undefined;
  const timeoutMs = request.timeoutMs * RIPGREP_SHARE;
  return ripgrepFiles({ folder, pattern, timeoutMs }, ripgrep);
}

function shownPath(searched: string, relativePath: string): string {
  return relativePath === '' ? searched : join(searched, relativePath);
}
