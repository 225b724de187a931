import {
  type SendMessageBatchCommandInput,
  type SendMessageBatchCommandOutput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqsBatchQueue } from '../../../src/adapters/aws/sqs-batch-queue.ts';
import type { BatchMessage } from '../../../src/core/cloud/batch-record.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView } from '../../support/starter-deps.ts';

describe.skipIf(!hasEmulator())('the queue of batches', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'queue');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  function message(run: string, batch: number, image = 'i'): BatchMessage {
    const place = { index: 0, sample: 0, hash: 'a'.repeat(64), occurrence: 0, offset: 0 };
    const prompts = [{ ...place, length: 9, attempts_before: 0 }];
    return { v: 1, run, pass: 1, batch, image, prompts };
  }

  /** A client whose service refuses some entries of each call, as SQS does: with status 200. */
  function refusing(refuses: (body: string, call: number) => boolean) {
    const calls: number[] = [];
    const client = new SQSClient({
      region: 'us-east-1',
      endpoint: emulator.endpoint,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    client.middlewareStack.add(
      (next) => async (args) => {
        const input = args.input as SendMessageBatchCommandInput;
        const entries = input.Entries ?? [];
        calls.push(entries.length);
        const bad = entries.filter(({ MessageBody = '' }) => refuses(MessageBody, calls.length));
        input.Entries = entries.filter((entry) => !bad.includes(entry));
        const answer =
          input.Entries.length > 0
            ? await next(args)
            : { response: {}, output: { $metadata: {}, Successful: [], Failed: [] } };
        const output = answer.output as SendMessageBatchCommandOutput;
        output.Failed = bad.map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' }));
        return answer;
      },
      { step: 'initialize', name: 'refusing' },
    );
    return { calls, queue: createSqsBatchQueue(client, resources.queueUrl) };
  }

  it('sends ten a call, and characters that SQS refuses', async () => {
    const { calls, queue } = refusing(() => false);
    const messages = Array.from({ length: 23 }, (_, at) =>
      message('plain', at, 'ü\uffff\u0001\ud800'),
    );
    expect(await queue.send(messages)).toEqual([]);
    expect([...calls].sort()).toEqual([10, 10, 3]);
    expect(await view.messages('plain')).toEqual(messages);
  });

  it('keeps the sum of a call below its limit', async () => {
    const { calls, queue } = refusing(() => false);
    const messages = Array.from({ length: 4 }, (_, at) =>
      message('large', at, 'x'.repeat(100_000)),
    );
    expect(await queue.send(messages)).toEqual([]);
    expect(calls).toEqual([2, 2]);
    expect(await view.messages('large')).toHaveLength(4);
  });

  it('sends only what failed again', async () => {
    const { calls, queue } = refusing((body, call) => call === 1 && /"batch":(3|5),/.test(body));
    const messages = Array.from({ length: 8 }, (_, at) => message('partly', at));
    expect(await queue.send(messages)).toEqual([]);
    expect(calls).toEqual([8, 2]);
    expect(await view.messages('partly')).toEqual(messages);
  });

  it('gives back what is refused for good', async () => {
    const { queue } = refusing((body) => body.includes('"batch":1,'));
    const messages = [message('never', 0), message('never', 1)];
    expect(await queue.send(messages)).toEqual([messages[1]]);
    expect(await view.messages('never')).toEqual([messages[0]]);
  });

  it('sends nothing of nothing', async () => {
    const { calls, queue } = refusing(() => false);
    expect(await queue.send([])).toEqual([]);
    expect(calls).toEqual([]);
  });
});
