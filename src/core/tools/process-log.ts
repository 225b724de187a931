import { firstOf } from './cut-text.ts';
import { keptLines, shownStatus } from './process-output.ts';
import type { ToolContext } from './tool.ts';

/** Characters of one result; further lines are left to the next call. */
const MAX_OUTPUT = 50_000;

/** A window of a process's output by lines, numbered from its beginning: the last ones, or from `offset`. */
export async function processLog(
  id: string,
  { offset, limit }: { offset?: number | undefined; limit: number },
  { sandbox, redact }: ToolContext,
): Promise<Record<string, unknown>> {
  const status = await sandbox.waitForProcess(id, { timeoutMs: 0 });
  const output = await sandbox.processOutput(id, Number.MAX_SAFE_INTEGER);
  const { lines, first } = keptLines(output, redact);
  const total = first + lines.length;
  const from = Math.max(first, offset ?? total - limit);
  const shown = fitting(lines.slice(from - first, from - first + limit));
  return {
    ...shownStatus(status, redact),
    output: shown.join('\n'),
    total_lines: total,
    offset: from,
    ...logHint({ from, next: from + shown.length, first, total, offset }),
  };
}

function logHint(of: {
  from: number;
  next: number;
  first: number;
  total: number;
  offset: number | undefined;
}) {
  if (of.offset !== undefined && of.offset >= of.total) {
    return { hint: `offset ${of.offset} is after the last line; there are ${of.total}` };
  }
  const lost =
    (of.offset ?? of.first) < of.first ? `the first ${of.first} lines are kept no longer; ` : '';
  const more = of.next < of.total ? `use offset=${of.next} to go on` : '';
  const hint = `${lost}${more}`.replace(/; $/, '');
  return hint === '' ? {} : { hint };
}

/** As many lines as fit one result; a first one that is too long is cut. */
function fitting(lines: readonly string[]): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > MAX_OUTPUT) break;
    shown.push(line);
  }
  const [first] = lines;
  return shown.length === 0 && first !== undefined ? [firstOf(first, MAX_OUTPUT)] : shown;
}
