import { toolSucceeded } from '../../src/core/trajectory/tool-stats.ts';
import type { Case } from './case.ts';

/** What a call gave, and what `look` saw after it. */
export interface Called {
  result: Record<string, unknown>;
  after: string | null;
}

/** Whether a reader of the trajectory learns the same: fields and words may differ. */
export function isAlike(tool: string, ours: Called, theirs: Called): boolean {
  const [a, b] = [ours, theirs].map((of) => JSON.stringify(gistOf(tool, of)));
  return a === b;
}

function gistOf(tool: string, { result, after }: Called): unknown {
  const isGood = toolSucceeded(JSON.stringify(result));
  const left = after?.trimEnd() ?? null;
  if (tool === 'terminal') {
    const ended = result['session_id'] === undefined && isGood;
    return ended ? [textOf(result['output']), result['exit_code'], left] : [isGood, left];
  }
  return isGood ? [GISTS[tool]?.(result), left] : ['error', left];
}

const GISTS: Readonly<Record<string, (result: Record<string, unknown>) => unknown>> = {
  // Hermes numbers the empty rest behind the last newline too.
  read_file: (of) => [textOf(of['content']).replace(/(?:^|\n)\d+\|$/, ''), of['total_lines']],
  write_file: (of) => of['bytes_written'],
  patch: () => 'done',
  search_files: (of) => [of['total_count'], foundBy(of)],
  process: (of) => [
    of['status'],
    // Hermes tells the exit code neither in a log nor of a process it killed.
    of['status'] === 'exited' && of['total_lines'] === undefined ? of['exit_code'] : null,
    textOf(of['output'] ?? of['output_preview']),
  ],
  todo: (of) => of['todos'],
};

function textOf(value: unknown): string {
  return String(value ?? '').trimEnd();
}

function foundBy(of: Record<string, unknown>): unknown {
  const places = [of['matches'], of['files'], of['counts']].find((value) => value !== undefined);
  return JSON.stringify(places ?? []).replaceAll('"./', '"');
}

const HEAD = `# Tools: ours beside Hermes' own

Made by \`node bench/tools/compare.mjs\` with \`TALARIA_HERMES_PYTHON\` naming the Python of a venv that
has \`hermes-agent==0.19.0\`: the same calls in the same order, each side in one folder of its own on one
Linux machine (Hermes with \`TERMINAL_ENV=local\`, its tools called directly). *Same* means that the
result says the same: output and exit code, lines, matches, state, success or error, and what the call
left in the files. Names of further fields and the words of errors differ, and stand as *(words)*. The script fails where a
difference has no reason here.

| # | call | ours | Hermes | |
|---|---|---|---|---|
`;

/** The page, without paths of the machine that made it. */
export function tableOf(
  cases: readonly Case[],
  ours: readonly Called[],
  theirs: readonly Called[],
  root: string,
): string {
  const rows = cases.map((one, index) => {
    const cells = [
      `\`${one.tool}\` ${code(one.args)}`,
      shownResult(ours[index]),
      shownResult(withoutWords(theirs[index])),
      one.why === undefined ? 'same' : one.why,
    ];
    return `| ${index + 1} | ${cells.map((cell) => plain(cell, root)).join(' | ')} |\n`;
  });
  const same = cases.filter(({ why }) => why === undefined).length;
  return `${HEAD}${rows.join('')}\n${cases.length} calls, ${same} with the same result.\n`;
}

const SHOWN = 260;
/** Fields of Hermes' results that hold sentences of its own, or paths. */
const WORDS = new Set([
  'error',
  'hint',
  '_hint',
  '_warning',
  'message',
  'lint',
  'note',
  'timeout_note',
]);
const PATHS = new Set(['resolved_path', 'cwd', 'similar_files']);

/** A result with its data, and "(words)" for what it says in sentences. */
function withoutWords(called: Called | undefined): Called | undefined {
  if (called === undefined) return undefined;
  const entries = Object.entries(called.result)
    .filter(([key]) => !PATHS.has(key))
    .map(([key, value]) => [key, WORDS.has(key) && value !== null ? '(words)' : value]);
  return { ...called, result: Object.fromEntries(entries) };
}

function shownResult(called: Called | undefined): string {
  if (called === undefined) return '';
  const { result, after } = called;
  const shown = code(result);
  return after === null ? shown : `${shown} then ${code(after)}`;
}

function code(value: unknown): string {
  const text = JSON.stringify(value);
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return `<code>${cut.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '&#124;')}</code>`;
}

function plain(cell: string, root: string): string {
  return cell
    .replaceAll(new RegExp(`${root}/[^/" ]+(?:/[^/" ]+/work)?`, 'g'), '…')
    .replaceAll(/"pid":\d+/g, '"pid":1234')
    .replaceAll(/proc_[0-9a-f]{12}/g, 'proc_0123456789ab')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-01-01T00:00:00')
    .replaceAll('\n', ' ');
}
