import { z } from 'zod';
import { firstOf } from './cut-text.ts';
import { defineTool } from './define-tool.ts';
import { patchFiles } from './patch-files.ts';
import { replaceText } from './replace-text.ts';
import { withoutControls } from './safe-text.ts';
import type { ToolContext } from './tool.ts';

const MAX_TEXT = 1_000_000;
/** Characters of diff shown. */
const MAX_DIFF = 20_000;

const args = z.object({
  mode: z
    .enum(['replace', 'patch'])
    .default('replace')
    .describe("'replace' one text in one file, or 'patch' many places in many files."),
  path: z.string().min(1).max(4_096).optional().describe("File to change. Required for 'replace'."),
  old_string: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe(
      "Text to replace, exactly as in the file, with enough around it to occur once. Required for 'replace'.",
    ),
  new_string: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe('What to put there; "" deletes. Required for \'replace\'.'),
  replace_all: z.boolean().default(false).describe("Replace every occurrence ('replace' only)."),
  patch: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe(
      `Required for 'patch'. Between "*** Begin Patch" and "*** End Patch": "*** Add File: path" with lines "+…"; "*** Delete File: path"; "*** Update File: path", perhaps "*** Move to: path", and hunks: an "@@ text" line that stands before the place, then the lines there, each with " " (kept), "-" (removed) or "+" (added) in front. "*** End of File" after a hunk at the file's end.`,
    ),
});

/** Changes text files: one replacement, or a V4A patch over several files. */
export const patch = defineTool({
  name: 'patch',
  description:
    "Changes text files. mode 'replace': old_string, which has to occur exactly once unless replace_all is set, becomes new_string. mode 'patch': adds, updates, moves and deletes files, all or none of what the patch says. Gives the change as a unified diff.",
  args,
  async run(given, context) {
    if (given.mode === 'replace') {
      const result = await replaceText(given, context);
      if (!result.ok) return failed(result.error);
      const { path, diff, replacements } = result;
      return { success: true, diff: shown(diff, context), files_modified: [path], replacements };
    }
    if (given.patch === undefined) {
      return failed(
        "patch: mode 'patch' needs the argument patch, a text of the form *** Begin Patch",
      );
    }
    const result = await patchFiles(given.patch, context);
    if (!result.ok) return failed(result.error);
    return { success: true, diff: shown(result.diff, context), ...result.files };
  },
});

function shown(diff: string, { redact }: ToolContext): string {
  const text = redact(withoutControls(diff));
  if (text.length <= MAX_DIFF) return text;
  return `${firstOf(text, MAX_DIFF)}\n[… ${text.length - MAX_DIFF} characters of diff cut]`;
}

function failed(error: string) {
  return { success: false, error };
}
