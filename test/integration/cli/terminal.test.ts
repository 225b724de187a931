import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUNDLE, rehearsal, runToEnd, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const ESCAPE = '\u001b';
const COLOR = new RegExp(`${ESCAPE}\\[\\d+m`);
/** Of util-linux: runs a command on a pseudo-terminal. */
const SCRIPT = 'script';
const hasScript = spawnSync(SCRIPT, ['--version']).status === 0;

beforeAll(async () => {
  const rows = Array.from({ length: 40 }, (_, index) => `{"prompt":"Task ${index}"}`);
  await folder.write('prompts.jsonl', `${rows.join('\n')}\n`);
});

/** Runs the command on a pseudo-terminal of this width and gives what the terminal was sent. */
async function onTerminal(columns: number, words: string[], env: Record<string, string> = {}) {
  const command = [process.execPath, BUNDLE, ...words].map((word) => `'${word}'`).join(' ');
  const size = `stty cols ${columns} rows 24`;
  const end = await runToEnd(
    SCRIPT,
    ['-qefc', `${size}; exec ${command}`, '/dev/null'],
    folder.path,
    { env: { TERM: 'xterm-256color', ...env } },
  );
  expect(end.code, end.stdout).toBe(0);
  return end.stdout;
}

/** What stays on the screen, line by line: cursor movements, erasing and printing carried out. */
function screenOf(sent: string): string[] {
  const lines: string[] = [''];
  let row = 0;
  const erase = () => {
    lines[row] = '';
  };
  const moves: Record<string, (count: string) => void> = {
    A: (count) => {
      row = Math.max(0, row - Number(count || 1));
    },
    B: (count) => {
      row += Number(count || 1);
    },
    K: (part) => (part === '2' ? erase() : undefined),
  };
  const print = (character: string) => {
    if (character === '\n') row += 1;
    else if (character !== '\r') lines[row] = `${lines[row] ?? ''}${character}`;
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is read
  for (const [token, count, final] of sent.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|[^\u001b]/gsu)) {
    if (final === undefined) print(token);
    else moves[final]?.(count ?? '');
    while (row >= lines.length) lines.push('');
  }
  return lines;
}

describe.skipIf(!hasScript)('on a terminal', () => {
  it.each([
    ['wide', 120],
    ['usual', 80],
    ['narrow', 30],
    ['absurdly narrow', 8],
  ])('that is %s progress is redrawn in place', async (name, columns) => {
    const sent = await onTerminal(columns, rehearsal(name.replaceAll(' ', '-')));
    expect(sent.match(/━|\d+ %/g)?.length).toBeGreaterThan(2);
    expect(sent).toMatch(COLOR);
    const lines = screenOf(sent);
    // One bar is left of the many that were drawn, and nothing of it was wrapped.
    const bars = lines.filter((line) => /^━* ?\d+ %/.test(line));
    expect(bars).toHaveLength(1);
    const at = lines.indexOf(bars[0] ?? '');
    for (const line of lines.slice(at, at + 3)) expect(line.length).toBeLessThan(columns);
    if (columns >= 80) expect(lines[at + 1]).toBe('40/40 prompts · 40 done, 0 failed, 0 discarded');
    if (columns >= 80) expect(lines[at + 2]).toMatch(/^[\d.]+\/s · .* tokens · cost \$0$/);
    expect(lines[at + 3]).toBe('');
    // The cursor is shown again.
    expect(sent.lastIndexOf(`${ESCAPE}[?25h`)).toBeGreaterThan(sent.lastIndexOf(`${ESCAPE}[?25l`));
  });

  it('verbose logs scroll by above the progress', async () => {
    const sent = await onTerminal(100, rehearsal('verbose', '--verbose', '--max_samples=4'));
    const lines = screenOf(sent);
    expect(lines.filter((line) => /^━* \d+ %/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => line.endsWith('] completed'))).toHaveLength(4);
  });

  it('NO_COLOR leaves the redrawing and takes the colours', async () => {
    const sent = await onTerminal(80, rehearsal('no-color'), { NO_COLOR: '1' });
    expect(sent).not.toMatch(COLOR);
    expect(screenOf(sent).filter((line) => line.includes(' 100 %'))).toHaveLength(1);
  });

  it('that is dumb gets plain lines', async () => {
    const sent = await onTerminal(80, rehearsal('dumb'), { TERM: 'dumb' });
    expect(sent).not.toContain(ESCAPE);
    expect(sent).toContain('40/40 prompts · 40 done');
  });

  it('a file for standard output gets no colours', async () => {
    const command = `stty cols 80 rows 24; exec '${process.execPath}' '${BUNDLE}' ${rehearsal('file').join(' ')} > out.txt`;
    const env = { TERM: 'xterm-256color' };
    const end = await runToEnd(SCRIPT, ['-qefc', command, '/dev/null'], folder.path, { env });
    expect(end.stdout).toMatch(COLOR);
    const page = readFileSync(folder.at('out.txt'), 'utf8');
    expect(page).toContain('load_dataset("data/file")');
    expect(page).not.toContain(ESCAPE);
  });
});

describe('in a pipe', () => {
  it('there are plain lines without escape codes, in CI too', async () => {
    const end = await folder.talaria(rehearsal('pipe'), { env: { CI: 'true' } });
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toMatch(/^40\/40 prompts · 40 done, 0 failed, 0 discarded · .*cost \$0$/m);
    expect(end.stderr + end.stdout).not.toContain(ESCAPE);
    for (const part of ['tool ', 'terminal', 'success rate', 'reasoning', 'coverage', 'tokens']) {
      expect(end.stdout).toContain(part);
    }
    for (const part of ['dataset ', 'prompts ', 'model ', 'toolsets ', 'sandbox ', 'workers ']) {
      expect(end.stderr).toContain(part);
    }
  });

  it('a resume with nothing to do says so, and shows no progress', async () => {
    await folder.talaria(rehearsal('idle', '--max_samples=3'));
    const end = await folder.talaria(['run', '--run_name=idle', '--resume']);
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('nothing: all 3 prompts are done');
    expect(end.stderr).not.toContain('0/0');
  });
});
