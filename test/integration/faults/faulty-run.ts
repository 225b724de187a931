import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { StoredRun } from '../../support/run-files.ts';
import { expectSound } from '../../support/run-files.ts';
import { BUNDLE, type CommandEnd, runToEnd } from '../../support/talaria-command.ts';
import { expectSameRows } from '../crash/same-rows.ts';

const FAULT_AT_STEP = fileURLToPath(new URL('fault-at-step.mjs', import.meta.url));
/** A run that hangs is a failure. */
const LIMIT_SECONDS = '45';

/** A shell command that is run right before the n-th step that matches. */
export interface Fault {
  command: string;
  on: string;
  nth?: number;
}

export interface FaultyOptions {
  cwd: string;
  fault?: Fault;
  env?: Readonly<Record<string, string>>;
  /** Program and words before those of the command line, such as `prlimit --nofile=30`. */
  under?: readonly string[];
  /** Further modules to load before the command line. */
  imports?: readonly string[];
}

/** Runs the real command line to its end, with a fault in the middle where there is one. */
export function runFaulty(words: readonly string[], options: FaultyOptions): Promise<CommandEnd> {
  const { fault, under = [], imports = [] } = options;
  const modules = [...(fault === undefined ? [] : [FAULT_AT_STEP]), ...imports];
  const node = modules.flatMap((module) => ['--import', module]);
  const variables = fault && {
    TALARIA_TEST_FAULT: fault.command,
    TALARIA_TEST_FAULT_ON: fault.on,
    TALARIA_TEST_FAULT_NTH: String(fault.nth ?? 1),
  };
  return runToEnd(
    'timeout',
    ['-s', 'KILL', LIMIT_SECONDS, ...under, process.execPath, ...node, BUNDLE, ...words],
    options.cwd,
    { env: { ...variables, ...options.env } },
  );
}

/** A clear end: a code of its own, one message that says what was, and no stack trace. */
export function expectClearEnd(end: CommandEnd, message: RegExp, code = 1): void {
  expect(end.stderr).toMatch(message);
  expect(end.code, end.stderr).toBe(code);
  expect(end.stderr.match(/^talaria: /gm)).toHaveLength(1);
  expect(end.stderr).not.toMatch(/^\s+at |Warning|internal error/m);
}

/** The rows of a run that went on after a fault are those of one that met none. */
export function expectAsUndisturbed(folder: string, undisturbed: StoredRun): StoredRun {
  const run = expectSound(folder);
  expectSameRows(run, undisturbed);
  return run;
}
