import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findShell } from '../../src/adapters/sandbox/find-shell.ts';
import { createProcessSandboxProvider } from '../../src/adapters/sandbox/process-sandbox.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import type { ToolContext } from '../../src/core/tools/tool.ts';
import { CASES } from './cases.ts';
import { type Called, isAlike, tableOf } from './table.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Makes every call with our tools, in one sandbox. */
async function ours(root: string): Promise<Called[]> {
  const shell = findShell(PATH);
  if (shell === undefined) throw new Error(`no shell in ${PATH}`);
  const provider = createProcessSandboxProvider({ root: join(root, 'ours'), shell, path: PATH });
  const sandbox = await provider.open({ promptId: 'p', image: '', cwd: '' });
  const context: ToolContext = {
    sandbox,
    signal: new AbortController().signal,
    remainingMs: () => Number.POSITIVE_INFINITY,
    redact: (text) => text,
    todos: [],
  };
  const call = async (name: string, args: unknown) =>
    JSON.parse((await BUILTIN_TOOLS[name]?.run(args, context)) ?? '{}');
  const called: Called[] = [];
  let session = 'none';
  try {
    for (const { tool, args, look, pause } of CASES) {
      const text = JSON.stringify(args).replaceAll('$SESSION', session);
      const result = await call(tool, JSON.parse(text));
      if (tool === 'terminal' && result.session_id !== undefined) session = result.session_id;
      const after = look === undefined ? null : (await call('terminal', { command: look })).output;
      called.push({ result, after });
      await new Promise((resolve) => setTimeout(resolve, (pause ?? 0) * 1_000));
    }
  } finally {
    await provider.close();
  }
  return called;
}

/** Makes them with Hermes' own, which TALARIA_HERMES_PYTHON (a venv's python) has. */
function theirs(root: string, python: string, script: string): Called[] {
  const folder = mkdtempSync(join(root, 'theirs-'));
  const output = join(root, 'theirs.json');
  execFileSync(python, [script, output], {
    cwd: folder,
    input: JSON.stringify(CASES),
    stdio: ['pipe', 'ignore', 'inherit'],
    timeout: 300_000,
  });
  return JSON.parse(readFileSync(output, 'utf8'));
}

/**
 * Writes docs/tools.md; throws where a difference has no reason beside it, or a reason no difference.
 * `page` is the file to write, `script` hermes-calls.py.
 */
export async function compareTools(of: {
  python: string;
  script: string;
  page: string;
}): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'talaria-compare-'));
  try {
    const pairs = { ours: await ours(root), theirs: theirs(root, of.python, of.script) };
    const wrong = CASES.flatMap((one, index) => {
      const [our, their] = [pairs.ours[index], pairs.theirs[index]];
      if (our === undefined || their === undefined) return [`${index}: no result`];
      if (isAlike(one.tool, our, their) === (one.why === undefined)) return [];
      const call = `${one.tool} ${JSON.stringify(one.args)}`;
      const shown = `ours ${JSON.stringify(our)}\n  theirs ${JSON.stringify(their)}`;
      return [`${one.why === undefined ? 'differs' : 'is the same'}: ${call}\n  ${shown}`];
    });
    writeFileSync(of.page, tableOf(CASES, pairs.ours, pairs.theirs, root));
    if (wrong.length > 0) throw new Error(`cases.ts is not true any more:\n${wrong.join('\n')}`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
