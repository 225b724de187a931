// As a namespace, so that what is not used, the translations above all, stays out of the daemon.
import * as z from 'zod';

export const PROTOCOL_VERSION = 1;
/** How often the daemon says that it is alive. */
export const BEAT_MS = 1_000;

const count = z.int().nonnegative();
const id = count;
const text = z.string();
const processId = text.max(1_000);
const statusResult = z.strictObject({
  id: processId,
  pid: count,
  command: text,
  /** Absent while it runs. */
  exitCode: count.optional(),
  runMs: z.number().nonnegative(),
});
const nothing = z.strictObject({});

/** What each method takes and gives; bytes travel beside it. */
export const METHODS = {
  open: {
    params: z.strictObject({ version: z.literal(PROTOCOL_VERSION), cwd: text, mark: text }),
    result: z.strictObject({ home: text, cwd: text }),
  },
  run: {
    params: z.strictObject({
      command: text,
      timeoutMs: z.number(),
      workdir: text.optional(),
      pty: z.boolean().optional(),
      keep: z.strictObject({ headBytes: count, tailBytes: count }),
    }),
    /** Beside it the head, then the tail. */
    result: z.strictObject({
      headBytes: count,
      omittedBytes: count,
      exitCode: count,
      stopped: z.enum(['no', 'timeout', 'aborted']),
      outOfMemory: z.boolean().optional(),
    }),
  },
  readFile: {
    params: z.strictObject({ path: text, maxBytes: count }),
    result: z.strictObject({ size: count }),
  },
  writeFile: { params: z.strictObject({ path: text }), result: nothing },
  deleteFile: { params: z.strictObject({ path: text }), result: nothing },
  moveFile: { params: z.strictObject({ from: text, to: text }), result: nothing },
  search: {
    params: z.strictObject({
      pattern: text,
      target: z.enum(['content', 'files']),
      path: text,
      fileGlob: text.optional(),
      context: count,
      maxMatches: count,
      timeoutMs: z.number(),
    }),
    result: z.strictObject({
      matches: z.array(
        z.strictObject({ path: text, line: count, text: text, isMatch: z.boolean() }),
      ),
      incomplete: z.enum(['no', 'limit', 'timeout']),
    }),
  },
  startProcess: {
    params: z.strictObject({
      command: text,
      workdir: text.optional(),
      pty: z.boolean().optional(),
    }),
    result: statusResult,
  },
  listProcesses: { params: nothing, result: z.strictObject({ all: z.array(statusResult) }) },
  waitForProcess: {
    params: z.strictObject({ id: processId, timeoutMs: z.number() }),
    result: statusResult,
  },
  processOutput: {
    params: z.strictObject({ id: processId, maxBytes: count }),
    result: z.strictObject({ skippedBytes: count, skippedLines: count }),
  },
  writeToProcess: { params: z.strictObject({ id: processId }), result: nothing },
  closeProcessInput: { params: z.strictObject({ id: processId }), result: nothing },
  killProcess: { params: z.strictObject({ id: processId }), result: statusResult },
} as const;

export type Method = keyof typeof METHODS;
export type Params<M extends Method> = z.infer<(typeof METHODS)[M]['params']>;
export type Result<M extends Method> = z.infer<(typeof METHODS)[M]['result']>;

const methodName = z.enum(Object.keys(METHODS) as [Method, ...Method[]]);

/** From the agent to the daemon. */
export const requestMessage = z.union([
  z.strictObject({ id, method: methodName, params: z.unknown() }),
  z.strictObject({ abort: id }),
]);

const fileCode = z.enum([
  'not_found',
  'is_directory',
  'not_a_file',
  'exists',
  'outside',
  'permission',
  'invalid_pattern',
  'io',
]);
const processCode = z.enum([
  'unknown_process',
  'too_many',
  'input_closed',
  'input_full',
  'not_started',
  'no_terminal',
]);
const message = text.max(100_000);
const errorMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), code: fileCode, message }),
  z.strictObject({ kind: z.literal('process'), code: processCode, message }),
  z.strictObject({ kind: z.literal('lost'), message }),
]);
export type ErrorMessage = z.infer<typeof errorMessage>;

/** From the daemon to the agent. */
export const replyMessage = z.union([
  z.strictObject({ id, result: z.unknown() }),
  z.strictObject({ id, error: errorMessage }),
  z.strictObject({ beat: z.literal(true) }),
]);
