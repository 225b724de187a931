import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// biome-ignore lint/style/noProcessEnv: which build to test is a setting of the test run, not of ours
const ENVIRONMENT = process.env;
const BUNDLE =
  ENVIRONMENT['TALARIA_TEST_BUNDLE'] ??
  fileURLToPath(new URL('../../dist/talaria.mjs', import.meta.url));
const KILL_AT_STEP = fileURLToPath(
  new URL('../integration/crash/kill-at-step.mjs', import.meta.url),
);

/** How a process ended: by itself with a code, or by a signal. */
export interface TalariaEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface TalariaProcess {
  pid: number;
  ended: Promise<TalariaEnd>;
  hasEnded(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when standard error has the text; throws after a minute. */
  stderrHas(text: string): Promise<void>;
}

export type Flags = Readonly<Record<string, string | number | boolean>>;

/** A step before which the process kills itself, see `kill-at-step.mjs`. */
export type KillStep = { at: number } | { on: string; nth?: number } | { trace: string };

export interface StartOptions {
  env?: Readonly<Record<string, string>>;
  killStep?: KillStep;
  command?: 'run' | 'merge';
}

/** A folder of its own for runs of the real command line, and its sandboxes. */
export interface Workshop {
  path: string;
  /** Writes `prompts.jsonl`; texts become rows with just a prompt. */
  dataset(rows: readonly (string | Record<string, unknown>)[]): Promise<void>;
  start(flags: Flags, options?: StartOptions): TalariaProcess;
  /** Rejects, with what the process said, if it takes more than 45 s. */
  run(flags: Flags, options?: StartOptions): Promise<TalariaEnd>;
  /** The folder of a run, by default of the run `r`. */
  folder(runName?: string): string;
  /** Ends processes that still run and removes the folder. */
  dispose(): Promise<void>;
}

/**
 * Makes a workshop. Its processes run the built `dist/talaria.mjs`, with `--dataset_file`,
 * `--run_name=r` and `--batch_size=2` unless told otherwise, in a clean environment.
 */
export async function makeWorkshop(): Promise<Workshop> {
  if (!existsSync(BUNDLE)) throw new Error(`${BUNDLE} is missing: run \`npm run build\` first`);
  const path = await mkdtemp(join(tmpdir(), 'talaria-test-'));
  const temporary = join(path, 'tmp');
  await mkdir(temporary);
  const processes: TalariaProcess[] = [];

  function start(flags: Flags, options: StartOptions = {}): TalariaProcess {
    const { command = 'run', killStep } = options;
    const child = spawn(
      process.execPath,
      [
        ...(killStep === undefined ? [] : ['--import', KILL_AT_STEP]),
        BUNDLE,
        command,
        ...words(command === 'run' ? { ...RUN_DEFAULTS, ...flags } : { run_name: 'r', ...flags }),
      ],
      {
        cwd: path,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: ENVIRONMENT['PATH'],
          HOME: path,
          TMPDIR: temporary,
          NO_COLOR: '1',
          ...killVariables(killStep),
          ...options.env,
        },
      },
    );
    const started = watch(child);
    processes.push(started);
    return started;
  }

  return {
    path,
    async dataset(rows) {
      const lines = rows.map((row) =>
        JSON.stringify(typeof row === 'string' ? { prompt: row } : row),
      );
      await writeFile(join(path, 'prompts.jsonl'), `${lines.join('\n')}\n`);
    },
    start,
    run: (flags, options) => endOf(start(flags, options)),
    folder: (runName = 'r') => join(path, 'data', runName),
    async dispose() {
      for (const started of processes) if (!started.hasEnded()) started.kill('SIGKILL');
      await Promise.all(processes.map((started) => started.ended));
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const RUN_DEFAULTS: Flags = { dataset_file: 'prompts.jsonl', run_name: 'r', batch_size: 2 };

/** A flag that is `false` is left out. */
function words(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}=${value}`];
  });
}

function killVariables(step: KillStep | undefined): Record<string, string> {
  if (step === undefined) return {};
  const under = { TALARIA_TEST_UNDER: 'data' };
  if ('at' in step) return { ...under, TALARIA_TEST_KILL_AT: String(step.at) };
  if ('on' in step) {
    const nth = String(step.nth ?? 1);
    return { ...under, TALARIA_TEST_KILL_ON: step.on, TALARIA_TEST_KILL_NTH: nth };
  }
  return { ...under, TALARIA_TEST_TRACE: step.trace };
}

function watch(child: ChildProcess): TalariaProcess {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  let over = false;
  const ended = new Promise<TalariaEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      over = true;
      resolve({ code, signal, ...output });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => over,
    kill: (signal) => void child.kill(signal),
    async stderrHas(text) {
      await until(() => output.stderr.includes(text));
    },
  };
}

/** The end of a process that must not hang: a hang tells what the process said. */
async function endOf(started: TalariaProcess): Promise<TalariaEnd> {
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    started.kill('SIGKILL');
  }, 45_000);
  const end = await started.ended;
  clearTimeout(limit);
  if (isLate) throw new Error(`process ${started.pid} hung; it said:\n${end.stderr}${end.stdout}`);
  return end;
}

/** Waits until `condition` gives something; throws after a minute. */
export async function until<T>(condition: () => T | undefined | false): Promise<T> {
  const from = performance.now();
  for (;;) {
    const found = condition();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - from > 60_000) throw new Error(`in vain: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
