import { z } from 'zod';
import type { CommandResult } from '../ports/sandbox.ts';
import { OUTPUT_TO_KEEP, shownOutput } from './command-output.ts';
import { defineTool } from './define-tool.ts';
import { startInBackground } from './start-in-background.ts';

const MAX_TIMEOUT_S = 600;
const MAX_COMMAND = 4_000_000;

const args = z.object({
  command: z
    .string()
    .min(1)
    .max(MAX_COMMAND)
    .describe(
      'Shell command to run. Its input is empty, a command that asks gets end-of-file; with background it can be written to.',
    ),
  background: z
    .boolean()
    .default(false)
    .describe(
      'Start the command and answer at once, with a session_id for the process tool. For servers, and for what takes longer than the timeout allows.',
    ),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_S)
    .default(180)
    .describe(
      'Seconds after which the command and all it started are killed. An early end costs nothing.',
    ),
  workdir: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Folder for this command only; without it, where the last command ended.'),
  pty: z
    .boolean()
    .default(false)
    .describe(
      'Run in a terminal (80x24) for programs that want one: REPLs, interactive tools. With background, type by the process tool.',
    ),
  notify_on_complete: z
    .boolean()
    .default(false)
    .describe("Not available here: nothing comes between calls; use process with action 'wait'."),
  watch_patterns: z
    .array(z.string())
    .max(100)
    .default([])
    .describe("Not available here: nothing comes between calls; use process with action 'poll'."),
});

/** Runs one command of at most 10 minutes in the prompt's sandbox. */
export const terminal = defineTool({
  name: 'terminal',
  description:
    'Runs a shell command and gives its output (standard output and error together) and exit code. The working directory and exported variables last from one call to the next. To read, change or search files, prefer read_file, patch, write_file and search_files.',
  args,
  async run(given, context) {
    const refusal = refusalOf(given);
    if (refusal !== undefined) return { output: '', exit_code: -1, error: refusal };
    if (given.background) return startInBackground(given, context);
    const timeoutMs = Math.max(1, Math.min(given.timeout * 1_000, context.remainingMs()));
    const result = await context.sandbox.run({
      command: given.command,
      timeoutMs,
      ...(given.workdir === undefined ? {} : { workdir: given.workdir }),
      pty: given.pty,
      keep: OUTPUT_TO_KEEP,
      signal: context.signal,
    });
    const output = shownOutput(result, context.redact);
    return { output, ...endOf(result, timeoutMs) };
  },
});

function refusalOf(given: z.output<typeof args>): string | undefined {
  if (given.command.includes('\0') || given.workdir?.includes('\0')) {
    return "terminal: expected a command without NUL bytes; printf '\\0' makes one";
  }
  const instead = WAYS_OUT.find(([name]) => given[name] === true || isFilled(given[name]));
  return instead && `terminal: ${instead[0]} is not available here, nothing was run; ${instead[1]}`;
}

const NO_MEMORY =
  'memory ran out in the sandbox and the command, or a part of it, was killed; do it in smaller parts';

const WAYS_OUT = [
  [
    'notify_on_complete',
    "no notice can come between your calls; start it with background alone, and use process with action 'wait'",
  ],
  [
    'watch_patterns',
    "no notice can come between your calls; start it with background alone, and use process with action 'poll' or 'log'",
  ],
] as const;

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function endOf(result: CommandResult, timeoutMs: number) {
  switch (result.stopped) {
    case 'no':
      return { exit_code: result.exitCode, error: result.outOfMemory === true ? NO_MEMORY : null };
    case 'timeout':
      return {
        exit_code: 124,
        error: `command timed out after ${timeoutMs / 1_000} s and was killed with all it had started; give a longer timeout (at most ${MAX_TIMEOUT_S}), or run it with background`,
      };
    case 'aborted':
      return {
        exit_code: 130,
        error: 'command stopped: the time for this task is up, nothing more can be run',
      };
  }
}
