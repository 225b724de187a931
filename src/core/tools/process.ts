import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { processLog } from './process-log.ts';
import { bytesFor, lastCharacters, shownStatus } from './process-output.ts';
import type { ToolContext } from './tool.ts';

const MAX_DATA = 1_000_000;
const MAX_TIMEOUT_S = 600;
/** Characters of output shown. */
const IN_LIST = 200;
const IN_STATUS = 2_000;

const args = z.object({
  action: z
    .enum(['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit', 'close'])
    .describe(
      "'list' all; 'poll' state and last output; 'log' output by lines; 'wait' for the end; 'kill'; 'write' data to its input; 'submit' data and a newline; 'close' its input (end-of-file).",
    ),
  session_id: z
    .string()
    .max(100)
    .optional()
    .describe("From terminal with background. Required for all actions but 'list'."),
  data: z.string().max(MAX_DATA).optional().describe("Text for 'write' and 'submit'."),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_S)
    .default(180)
    .describe("Seconds that 'wait' takes at most; the process goes on after that."),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe("Lines that 'log' skips from the output's beginning. Without it: the last lines."),
  limit: z.int().min(1).max(2_000).default(200).describe("How many lines 'log' gives at most."),
});

type Arguments = z.output<typeof args>;

/** Looks after background processes. */
export const process = defineTool({
  name: 'process',
  description:
    'Looks after processes that terminal started with background: lists them, shows their output, waits for their end, writes to their input, kills them. They end with the conversation.',
  args,
  async run(given, context) {
    if (given.action === 'list') return list(context);
    const id = given.session_id;
    if (id === undefined || id === '') {
      const error = `process: ${given.action} needs a session_id; use action 'list' to see them`;
      return { error };
    }
    return ACTIONS[given.action](id, given, context);
  },
});

type Action = (
  id: string,
  given: Arguments,
  context: ToolContext,
) => Promise<Record<string, unknown>>;

const ACTIONS: Readonly<Record<Exclude<Arguments['action'], 'list'>, Action>> = {
  poll: (id, _, context) => poll(id, context),
  log: processLog,
  wait,
  kill,
  write: (id, given, context) => write(id, given.data, context),
  submit: (id, given, context) => write(id, `${given.data ?? ''}\n`, context),
  async close(id, _, { sandbox }) {
    await sandbox.closeProcessInput(id);
    return { session_id: id, status: 'ok', message: 'its input is closed' };
  },
};

async function list({ sandbox, redact }: ToolContext) {
  const processes = [];
  for (const status of await sandbox.listProcesses()) {
    const output = await sandbox.processOutput(status.id, bytesFor(IN_LIST));
    processes.push({
      ...shownStatus(status, redact),
      output_preview: lastCharacters(output, IN_LIST, redact),
    });
  }
  return { processes };
}

async function poll(id: string, context: ToolContext) {
  const status = await context.sandbox.waitForProcess(id, { timeoutMs: 0 });
  return { ...shownStatus(status, context.redact), output_preview: await lastOutput(id, context) };
}

async function wait(id: string, { timeout }: Arguments, context: ToolContext) {
  const { sandbox, signal, redact } = context;
  const timeoutMs = Math.max(1, Math.min(timeout * 1_000, context.remainingMs()));
  const status = await sandbox.waitForProcess(id, { timeoutMs, signal });
  const shown = { ...shownStatus(status, redact), output: await lastOutput(id, context) };
  if (status.exitCode !== undefined) return shown;
  const why = signal.aborted
    ? 'the time for this task is up'
    : `still running after ${timeoutMs / 1_000} s; wait again, poll, or kill it`;
  return { ...shown, status: 'timeout', timeout_note: why };
}

async function kill(id: string, _: Arguments, context: ToolContext) {
  const before = await context.sandbox.waitForProcess(id, { timeoutMs: 0 });
  const status = await context.sandbox.killProcess(id);
  const shown = { ...shownStatus(status, context.redact), output: await lastOutput(id, context) };
  if (before.exitCode !== undefined) return { ...shown, status: 'already_exited' };
  if (status.exitCode !== undefined) return { ...shown, status: 'killed' };
  return { ...shown, error: 'process: it did not end within 2 s of SIGKILL; poll to see when' };
}

async function write(id: string, data: string | undefined, { sandbox }: ToolContext) {
  if (data === undefined) return { error: 'process: write needs data, the text for its input' };
  const bytes = new TextEncoder().encode(data);
  await sandbox.writeToProcess(id, bytes);
  return { session_id: id, status: 'ok', bytes_written: bytes.length };
}

async function lastOutput(id: string, { sandbox, redact }: ToolContext): Promise<string> {
  return lastCharacters(await sandbox.processOutput(id, bytesFor(IN_STATUS)), IN_STATUS, redact);
}
