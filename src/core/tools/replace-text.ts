import { applyEdits, type Edit, findOccurrences } from './find-occurrences.ts';
import { nearestLines } from './nearest-lines.ts';
import { decodeStrictly } from './safe-text.ts';
import { readTextFile } from './text-file.ts';
import type { ToolContext } from './tool.ts';
import { unifiedDiff } from './unified-diff.ts';

/** Replacements that the diff is made from; more would not be seen in it anyway. */
const MAX_DIFFED = 2_000;

export interface ReplaceArguments {
  path?: string | undefined;
  old_string?: string | undefined;
  new_string?: string | undefined;
  replace_all: boolean;
}

interface Replacement {
  path: string;
  oldText: string;
  newText: string;
}

export type Replaced =
  | { ok: true; path: string; diff: string; replacements: number }
  | { ok: false; error: string };

/** Replaces a text in a file, once or everywhere. Throws `SandboxFileError`. */
export async function replaceText(
  given: ReplaceArguments,
  { sandbox }: ToolContext,
): Promise<Replaced> {
  const wanted = replacementOf(given);
  if ('error' in wanted) return { ok: false, error: wanted.error };
  const file = await readTextFile(sandbox, wanted.path);
  const before = decodeStrictly(file.bytes);
  if (before === undefined) {
    const error = `${wanted.path}: is not UTF-8, and a patch would damage it; use terminal with sed or python`;
    return { ok: false, error };
  }
  const edits = findOccurrences(before, wanted.oldText, wanted.newText);
  const problem = problemOf(edits, before, wanted, given.replace_all);
  if (problem !== undefined) return { ok: false, error: problem };
  await sandbox.writeFile(wanted.path, new TextEncoder().encode(applyEdits(before, edits)));
  const diff = unifiedDiff(wanted.path, before, edits.slice(0, MAX_DIFFED));
  return { ok: true, path: wanted.path, diff, replacements: edits.length };
}

function replacementOf(given: ReplaceArguments): Replacement | { error: string } {
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
