import {
  type ProcessStatus,
  type Sandbox,
  SandboxFileError,
  SandboxLostError,
} from '../../../core/ports/sandbox.ts';
import { MAX_BYTES } from './frames.ts';
import type { Result } from './messages.ts';
import type { ProtocolClient } from './protocol-client.ts';

/** Infinity is not a number of JSON. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A sandbox at the other end of a protocol client; `close` is the caller's. */
export function createRemoteSandbox(client: ProtocolClient): Omit<Sandbox, 'close'> {
  /** Throws where the sandbox gave more than was asked for. */
  function checkSize(what: string, length: number, most: number): void {
    if (length <= most) return;
    const problem = `the sandbox sent ${length} bytes of ${what}, expected at most ${most}`;
    client.lose(problem);
    throw new SandboxLostError(problem);
  }

  return {
    async run({ signal, keep, timeoutMs, ...asked }) {
      const { headBytes, tailBytes } = keep;
      const params = { ...asked, keep: { headBytes, tailBytes }, timeoutMs: finite(timeoutMs) };
      const { result, bytes } = await client.call('run', params, { signal });
      const { headBytes: headLength, ...rest } = result;
      const head = bytes.subarray(0, headLength);
      const tail = bytes.subarray(headLength);
      // What was kept of both is the output itself where nothing was cut.
      checkSize('output', bytes.length, headBytes + tailBytes);
      return { head, tail, ...rest };
    },
    async readFile(path, maxBytes) {
      const asked = Math.min(maxBytes, MAX_BYTES);
      const { result, bytes } = await client.call('readFile', { path, maxBytes: asked });
      checkSize('a file', bytes.length, asked);
      return { bytes, size: Math.max(result.size, bytes.length) };
    },
    async writeFile(path, bytes) {
      if (bytes.length > MAX_BYTES) {
        throw new SandboxFileError(
          `${path}: ${bytes.length} bytes, at most ${MAX_BYTES} can be written at once; write it in parts by a command`,
          'io',
        );
      }
      await client.call('writeFile', { path }, { bytes });
    },
    async deleteFile(path) {
      await client.call('deleteFile', { path });
    },
    async moveFile(from, to) {
      await client.call('moveFile', { from, to });
    },
    async search(request) {
      const params = { ...request, timeoutMs: finite(request.timeoutMs) };
      return (await client.call('search', params)).result;
    },
    async startProcess(request) {
      return status((await client.call('startProcess', { ...request })).result);
    },
    async listProcesses() {
      return (await client.call('listProcesses', {})).result.all.map(status);
    },
    async waitForProcess(id, { timeoutMs, signal }) {
      const params = { id, timeoutMs: finite(timeoutMs) };
      return status((await client.call('waitForProcess', params, { signal })).result);
    },
    async processOutput(id, maxBytes) {
      const { result, bytes } = await client.call('processOutput', { id, maxBytes });
      checkSize('output', bytes.length, maxBytes);
      return { bytes, ...result };
    },
    async writeToProcess(id, bytes) {
      await client.call('writeToProcess', { id }, { bytes });
    },
    async closeProcessInput(id) {
      await client.call('closeProcessInput', { id });
    },
    async killProcess(id) {
      return status((await client.call('killProcess', { id })).result);
    },
  };
}

function status({ exitCode, ...rest }: Result<'killProcess'>): ProcessStatus {
  return { ...rest, exitCode };
}

function finite(timeoutMs: number): number {
  return Math.min(Math.max(timeoutMs, 0), MAX_TIMER_MS);
}
