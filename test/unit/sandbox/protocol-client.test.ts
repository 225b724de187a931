import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createFrameReader, encodeFrame } from '../../../src/adapters/sandbox/protocol/frames.ts';
import { createProtocolClient } from '../../../src/adapters/sandbox/protocol/protocol-client.ts';
import { createRemoteSandbox } from '../../../src/adapters/sandbox/protocol/remote-sandbox.ts';
import { SandboxLostError } from '../../../src/core/ports/sandbox.ts';

/** A client whose every request is answered by `answer`, as raw bytes. */
function clientOf(answer: (id: number) => Buffer[]) {
  const read = createFrameReader(({ json }) => {
    const { id } = JSON.parse(json);
    for (const part of answer(id)) stream.push(part);
  });
  const stream: Duplex = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      read(chunk);
      done();
    },
  });
  const client = createProtocolClient(stream, { explainLoss: async (what) => what });
  return { stream, client, sandbox: createRemoteSandbox(client) };
}

const frame = (json: unknown, bytes = new Uint8Array()) =>
  encodeFrame({ json: JSON.stringify(json), bytes });
const RUN = { command: 'x', timeoutMs: 1, keep: { headBytes: 4, tailBytes: 4 } };
const ENDED = { exitCode: 0, omittedBytes: 0, stopped: 'no' };

describe('protocol client', () => {
  it.each<[string, (id: number) => Buffer[]]>([
    ['no JSON', () => encodeFrame({ json: '{', bytes: new Uint8Array() })],
    ['a length beyond all measure', () => [Buffer.alloc(8, 0xff)]],
    ['an answer to no question', (id) => frame({ id: id + 1, result: {} })],
    ['another shape', (id) => frame({ id, result: { exitCode: 0 } })],
    ['a field too many', (id) => frame({ id, result: { ...ENDED, headBytes: 0, more: 1 } })],
    ['a negative number', (id) => frame({ id, result: { ...ENDED, headBytes: -1 } })],
    ['an error of its own making', (id) => frame({ id, error: { kind: 'root', message: '' } })],
    [
      'more output than asked for',
      (id) => frame({ id, result: { ...ENDED, headBytes: 4 } }, new Uint8Array(9)),
    ],
  ])('gives up a sandbox that sends %s', async (_, answer) => {
    const { sandbox, stream } = clientOf(answer);
    await expect(sandbox.run(RUN)).rejects.toThrow(SandboxLostError);
    await expect(sandbox.readFile('a', 1)).rejects.toThrow(SandboxLostError);
    expect(stream.destroyed).toBe(true);
  });

  it('takes head and tail apart', async () => {
    const bytes = Buffer.from('abcdef');
    const { sandbox } = clientOf((id) => frame({ id, result: { ...ENDED, headBytes: 4 } }, bytes));
    const { head, tail } = await sandbox.run(RUN);
    expect([head, tail].map((part) => Buffer.from(part).toString())).toEqual(['abcd', 'ef']);
  });

  it('loses pending and later calls when the stream ends, for one reason', async () => {
    const { sandbox, stream } = clientOf(() => []);
    const pending = Promise.allSettled([sandbox.run(RUN), sandbox.listProcesses()]);
    stream.push(null);
    for (const { status } of await pending) expect(status).toBe('rejected');
    await expect(sandbox.run(RUN)).rejects.toThrow(/^the sandbox ended$/);
  });

  it('has heard of a sandbox at its first word, and tells when it is lost', async () => {
    const { client, stream } = clientOf(() => []);
    stream.push(Buffer.concat(frame({ beat: true })));
    await client.heard;
    stream.push(null);
    expect(await client.lost).toMatchObject({ message: 'the sandbox ended' });
  });

  it('says why a sandbox that ended without a word was not heard of', async () => {
    const { client, stream } = clientOf(() => []);
    stream.push(null);
    await expect(client.heard).rejects.toThrow(SandboxLostError);
  });
});
