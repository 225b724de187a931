import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

// biome-ignore lint/style/noProcessEnv: which build to test is a setting of the test run, not of ours
const ENVIRONMENT = process.env;

/** The built command. */
export const BUNDLE =
  ENVIRONMENT['TALARIA_TEST_BUNDLE'] ??
  fileURLToPath(new URL('../../dist/talaria.mjs', import.meta.url));

export interface CommandEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Beside PATH, HOME and TMPDIR, which are all that is set. */
  env?: Readonly<Record<string, string>>;
  stdin?: string | Uint8Array;
  /** Hears standard output as it comes. */
  onOutput?(text: string): void;
}

/** A folder to work in, and the real command line run in it to its end, with just these words. */
export interface CommandFolder {
  readonly path: string;
  at(...parts: string[]): string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  talaria(words: readonly string[], options?: CommandOptions): Promise<CommandEnd>;
}

/** A folder for the tests of a file, gone after them. */
export function useCommandFolder(): CommandFolder {
  let path = '';
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'talaria-cli-'));
  });
  afterAll(() => rm(path, { recursive: true, force: true, maxRetries: 5 }));
  return {
    get path() {
      return path;
    },
    at: (...parts) => join(path, ...parts),
    write: (name, content) => writeFile(join(path, name), content),
    talaria: (words, options = {}) => runToEnd(process.execPath, [BUNDLE, ...words], path, options),
  };
}

/** Runs a program to its end in `cwd`, in a clean environment. */
export async function runToEnd(
  program: string,
  words: readonly string[],
  cwd: string,
  { env, stdin, onOutput }: CommandOptions,
): Promise<CommandEnd> {
  const child = spawn(program, words, {
    cwd,
    stdio: 'pipe',
    env: { PATH: ENVIRONMENT['PATH'], HOME: cwd, TMPDIR: tmpdir(), ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
    onOutput?.(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  // A command that ends before it has read everything closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin ?? '');
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}

/** The rehearsal of one prompt, as flags. */
export function rehearsal(runName: string, ...more: string[]): string[] {
  return [
    'run',
    '--dataset_file=prompts.jsonl',
    '--batch_size=2',
    `--run_name=${runName}`,
    '--model=rehearsal',
    ...more,
  ];
}
