import type { Duplex } from 'node:stream';
import type { Sandbox } from '../../../core/ports/sandbox.ts';
import { errorToMessage } from './error-messages.ts';
import { createFrameReader, encodeFrame, type Frame, ProtocolError } from './frames.ts';
import {
  BEAT_MS,
  METHODS,
  type Method,
  type Params,
  type Result,
  requestMessage,
} from './messages.ts';

export interface OpenedSandbox {
  sandbox: Sandbox;
  home: string;
  cwd: string;
}

export interface ServeDeps {
  /** Makes the sandbox when the agent asks for it, once. */
  open(params: Params<'open'>): Promise<OpenedSandbox>;
}

interface Reply {
  json: unknown;
  bytes?: Uint8Array;
}

interface Call {
  sandbox: Sandbox;
  bytes: Uint8Array;
  signal: AbortSignal;
}

const DONE: Reply = { json: {} };

/**
 * Answers one agent over a byte stream. Resolves when the stream has ended, or sent what the
 * protocol does not allow; the sandbox is closed then.
 */
export async function serveSandbox(stream: Duplex, deps: ServeDeps): Promise<void> {
  const running = new Map<number, AbortController>();
  let opening: Promise<OpenedSandbox> | undefined;

  function send(json: unknown, bytes: Uint8Array = new Uint8Array()): void {
    if (stream.destroyed || !stream.writable) return;
    for (const part of encodeFrame({ json: JSON.stringify(json), bytes })) stream.write(part);
  }

  async function answer(id: number, method: Method, params: unknown, bytes: Uint8Array) {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const { json, bytes: beside } = await act(method, params, { bytes, signal: abort.signal });
      send({ id, result: json }, beside);
    } catch (error) {
      send({ id, error: errorToMessage(error) });
    } finally {
      running.delete(id);
    }
  }

  async function act(
    method: Method,
    params: unknown,
    of: { bytes: Uint8Array; signal: AbortSignal },
  ): Promise<Reply> {
    if (method === 'open') {
      if (opening !== undefined) throw new ProtocolError('the sandbox is open already');
      opening = deps.open(METHODS.open.params.parse(params));
      const { home, cwd } = await opening;
      return { json: { home, cwd } satisfies Result<'open'> };
    }
    if (opening === undefined) throw new ProtocolError('expected open first');
    const { sandbox } = await opening;
    return await CALLS[method](params, { sandbox, ...of });
  }

  function onFrame({ json, bytes }: Frame): void {
    const message = requestMessage.parse(JSON.parse(json));
    if ('abort' in message) running.get(message.abort)?.abort();
    else void answer(message.id, message.method, message.params, bytes);
  }

  // The first says that all is ready.
  send({ beat: true });
  const beat = setInterval(() => send({ beat: true }), BEAT_MS);
  const read = createFrameReader(onFrame);
  await new Promise<void>((resolve) => {
    stream.on('data', (chunk: Uint8Array) => {
      try {
        read(chunk);
      } catch {
        // Nothing after it can be understood.
        resolve();
      }
    });
    for (const end of ['end', 'close', 'error']) stream.on(end, () => resolve());
  });
  clearInterval(beat);
  await opening?.then(({ sandbox }) => sandbox.close()).catch(() => undefined);
}

const CALLS: Record<Exclude<Method, 'open'>, (params: unknown, call: Call) => Promise<Reply>> = {
  async run(params, { sandbox, signal }) {
    const { workdir, pty, ...rest } = METHODS.run.params.parse(params);
    const asked = { ...rest, ...(workdir !== undefined && { workdir }), ...(pty && { pty }) };
    const { head, tail, ...result } = await sandbox.run({ ...asked, signal });
    const json: Result<'run'> = { headBytes: head.length, ...result };
    return { json, bytes: Buffer.concat([head, tail]) };
  },
  async readFile(params, { sandbox }) {
    const { path, maxBytes } = METHODS.readFile.params.parse(params);
    const { bytes, size } = await sandbox.readFile(path, maxBytes);
    return { json: { size } satisfies Result<'readFile'>, bytes };
  },
  async writeFile(params, { sandbox, bytes }) {
    await sandbox.writeFile(METHODS.writeFile.params.parse(params).path, bytes);
    return DONE;
  },
  async deleteFile(params, { sandbox }) {
    await sandbox.deleteFile(METHODS.deleteFile.params.parse(params).path);
    return DONE;
  },
  async moveFile(params, { sandbox }) {
    const { from, to } = METHODS.moveFile.params.parse(params);
    await sandbox.moveFile(from, to);
    return DONE;
  },
  async search(params, { sandbox }) {
    const { fileGlob, ...rest } = METHODS.search.params.parse(params);
    return { json: await sandbox.search(fileGlob === undefined ? rest : { ...rest, fileGlob }) };
  },
  async startProcess(params, { sandbox }) {
    const { workdir, pty, command } = METHODS.startProcess.params.parse(params);
    const asked = { command, ...(workdir !== undefined && { workdir }), ...(pty && { pty }) };
    return { json: await sandbox.startProcess(asked) };
  },
  async listProcesses(_, { sandbox }) {
    return { json: { all: await sandbox.listProcesses() } };
  },
  async waitForProcess(params, { sandbox, signal }) {
    const { id, timeoutMs } = METHODS.waitForProcess.params.parse(params);
    return { json: await sandbox.waitForProcess(id, { timeoutMs, signal }) };
  },
  async processOutput(params, { sandbox }) {
    const { id, maxBytes } = METHODS.processOutput.params.parse(params);
    const { bytes, ...json } = await sandbox.processOutput(id, maxBytes);
    return { json, bytes };
  },
  async writeToProcess(params, { sandbox, bytes }) {
    await sandbox.writeToProcess(METHODS.writeToProcess.params.parse(params).id, bytes);
    return DONE;
  },
  async closeProcessInput(params, { sandbox }) {
    await sandbox.closeProcessInput(METHODS.closeProcessInput.params.parse(params).id);
    return DONE;
  },
  async killProcess(params, { sandbox }) {
    return { json: await sandbox.killProcess(METHODS.killProcess.params.parse(params).id) };
  },
};
