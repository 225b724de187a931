import { z } from 'zod';
import { firstOf } from './cut-text.ts';
import { defineTool } from './define-tool.ts';
import { applyEdits, type Edit, findOccurrences } from './find-occurrences.ts';
import { nearestLines } from './nearest-lines.ts';
import { decodeStrictly, withoutControls } from './safe-text.ts';
import { readTextFile } from './text-file.ts';
import { unifiedDiff } from './unified-diff.ts';

const MAX_TEXT = 1_000_000;
/** Characters of diff shown. */
const MAX_DIFF = 20_000;
/** Replacements that the diff is made from; more would not be seen in it anyway. */
const MAX_DIFFED = 2_000;

const args = z.object({
  mode: z
    .enum(['replace', 'patch'])
    .default('replace')
    .describe("'replace'; 'patch' (multi-file form) is not available here."),
  path: z.string().min(1).max(4_096).optional().describe('File to change. Required.'),
  old_string: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe(
      'Text to replace, exactly as in the file, with enough around it to occur once. Required.',
    ),
  new_string: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe('What to put there; "" deletes. Required.'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence.'),
  patch: z.string().max(MAX_TEXT).optional().describe('Not available here.'),
});

type Replacement = { path: string; oldText: string; newText: string };

/** Replaces text in a file, in the form `mode: replace`. */
export const patch = defineTool({
  name: 'patch',
  description:
    'Changes a text file by replacing old_string, which has to occur exactly once unless replace_all is set, by new_string. Gives the change as a unified diff.',
  args,
  async run(given, context) {
    const wanted = replacementOf(given);
    if ('error' in wanted) return failed(wanted.error);
    const file = await readTextFile(context.sandbox, wanted.path);
    const before = decodeStrictly(file.bytes);
    if (before === undefined) {
      return failed(
        `${wanted.path}: is not UTF-8, and a patch would damage it; use terminal with sed or python`,
      );
    }
    const edits = findOccurrences(before, wanted.oldText, wanted.newText);
    const problem = problemOf(edits, before, wanted, given.replace_all);
    if (problem !== undefined) return failed(problem);
    await context.sandbox.writeFile(
      wanted.path,
      new TextEncoder().encode(applyEdits(before, edits)),
    );
    return {
      success: true,
      diff: shownDiff(
        context.redact(
          withoutControls(unifiedDiff(wanted.path, before, edits.slice(0, MAX_DIFFED))),
        ),
      ),
      files_modified: [wanted.path],
      replacements: edits.length,
    };
  },
});

function replacementOf(given: z.output<typeof args>): Replacement | { error: string } {
  if (given.mode === 'patch') {
    return {
      error:
        "patch: mode 'patch' is not available here; use mode 'replace' with path, old_string and new_string, one call a change",
    };
  }
  const { path, old_string: oldText, new_string: newText } = given;
  if (path === undefined || oldText === undefined || newText === undefined) {
    const missing = Object.entries({ path, old_string: oldText, new_string: newText })
      .filter(([, value]) => value === undefined)
      .map(([name]) => name);
    return {
      error: `patch: expected path, old_string and new_string, got no ${missing.join(', ')}`,
    };
  }
  if (oldText === '') {
    return {
      error:
        'patch: expected a text in old_string, got an empty one; use write_file for a new file',
    };
  }
  if (oldText === newText) {
    return { error: 'patch: old_string and new_string are the same, nothing to change' };
  }
  return { path, oldText, newText };
}

function problemOf(
  edits: readonly Edit[],
  before: string,
  wanted: Replacement,
  replaceAll: boolean,
): string | undefined {
  if (edits.length === 1 || (edits.length > 1 && replaceAll)) return undefined;
  if (edits.length > 1) {
    return `${wanted.path}: expected old_string to occur once, got ${edits.length} times; give more of the text around it, or set replace_all`;
  }
  const nearest = nearestLines(before, wanted.oldText).map(({ line, text }) => `${line}|${text}`);
  const hint =
    nearest.length === 0
      ? 'nothing like its first line is there; use read_file to see the text'
      : `lines most like its first one:\n${nearest.join('\n')}`;
  return `${wanted.path}: old_string does not occur (blanks and case count); ${hint}`;
}

function shownDiff(diff: string): string {
  if (diff.length <= MAX_DIFF) return diff;
  return `${firstOf(diff, MAX_DIFF)}\n[… ${diff.length - MAX_DIFF} characters of diff cut]`;
}

function failed(error: string) {
  return { success: false, error };
}
