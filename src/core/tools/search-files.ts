import { z } from 'zod';
import type { SearchMatch, SearchResult } from '../ports/sandbox.ts';
import { cutLine } from './cut-text.ts';
import { defineTool } from './define-tool.ts';
import { withoutControls } from './safe-text.ts';

const MAX_LIMIT = 1_000;
const MAX_OFFSET = 10_000;
/** Matches counted where only totals are shown. */
const MAX_COUNTED = 10_000;
const MAX_LINE = 500;
const SEARCH_TIMEOUT_MS = 30_000;

const args = z.object({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .describe('Regular expression (RE2 syntax) for content; glob such as *.py for files.'),
  target: z
    .enum(['content', 'files'])
    .default('content')
    .describe("'content' searches inside files, 'files' finds files by name."),
  path: z.string().min(1).max(4_096).default('.').describe('Folder or file to search in.'),
  file_glob: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Only files whose name matches this glob, such as *.ts.'),
  limit: z.int().min(1).max(MAX_LIMIT).default(50).describe('How many results to give at most.'),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).describe('How many results to skip.'),
  output_mode: z
    .enum(['content', 'files_only', 'count'])
    .default('content')
    .describe(
      "For content: matching lines, only the files' paths, or the number of matches a file.",
    ),
  context: z.int().min(0).max(50).default(0).describe('Lines to show before and after each match.'),
});

type Arguments = z.output<typeof args>;

/** Searches contents or names of files. */
export const searchFiles = defineTool({
  name: 'search_files',
  description:
    'Searches inside files by regular expression, or for files by name. Hidden and binary files are left out. Results come in the order of their paths.',
  args,
  async run(given, context) {
    const showsLines = given.target === 'content' && given.output_mode === 'content';
    const result = await context.sandbox.search({
      pattern: given.pattern,
      target: given.target,
      path: given.path,
      ...(given.file_glob === undefined ? {} : { fileGlob: given.file_glob }),
      context: showsLines ? given.context : 0,
      maxMatches: showsLines ? given.offset + given.limit + 1 : MAX_COUNTED,
      timeoutMs: Math.max(1, Math.min(SEARCH_TIMEOUT_MS, context.remainingMs())),
    });
    return { ...resultOf(result, given, context.redact), ...noteOf(result) };
  },
});

function resultOf(
  { matches }: SearchResult,
  given: Arguments,
  redact: (text: string) => string,
): Record<string, unknown> {
  if (given.target === 'files' || given.output_mode === 'files_only') {
    const files = [...new Set(matches.map(({ path }) => path))];
    return { total_count: files.length, files: page(files, given), ...moreOf(files.length, given) };
  }
  if (given.output_mode === 'count') {
    const counts = [...countsOf(matches)];
    return {
      total_count: matches.length,
      counts: Object.fromEntries(page(counts, given)),
      ...moreOf(counts.length, given),
    };
  }
  const total = matches.filter(({ isMatch }) => isMatch).length;
  const shown = pageOfLines(matches, given).map(({ path, line, text, isMatch }) => ({
    path,
    line,
    // Redacted at the sandbox's length, cut to ours: a secret cut in two there is not shown.
    content: cutLine(redact(withoutControls(text)), MAX_LINE),
    ...(given.context > 0 ? { is_match: isMatch } : {}),
  }));
  return { total_count: total, matches: shown, ...moreOf(total, given) };
}

function page<T>(items: readonly T[], { offset, limit }: Arguments): T[] {
  return items.slice(offset, offset + limit);
}

function moreOf(total: number, { offset, limit }: Arguments) {
  if (total <= offset + limit) return {};
  return { truncated: true, hint: `more results; use offset=${offset + limit} to go on` };
}

/** The page's matches with the context lines that belong to them. */
function pageOfLines(matches: readonly SearchMatch[], given: Arguments): SearchMatch[] {
  const onPage = page(
    matches.filter(({ isMatch }) => isMatch),
    given,
  );
  if (given.context === 0) return onPage;
  const linesByPath = new Map<string, Set<number>>();
  for (const { path, line } of onPage) {
    const lines = linesByPath.get(path) ?? new Set();
    for (let at = line - given.context; at <= line + given.context; at += 1) lines.add(at);
    linesByPath.set(path, lines);
  }
  return matches.filter(({ path, line }) => linesByPath.get(path)?.has(line));
}

function countsOf(matches: readonly SearchMatch[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

function noteOf(result: SearchResult) {
  switch (result.incomplete) {
    case 'no':
      return {};
    case 'limit':
      return {
        note: 'not everything was searched: too many matches, or too large a file or folder; narrow it by path, file_glob or pattern',
      };
    case 'timeout':
      return { note: 'the search ran out of time; narrow it by path, file_glob or pattern' };
  }
}
