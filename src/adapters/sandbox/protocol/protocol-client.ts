import type { Duplex } from 'node:stream';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';
import { messageToError } from './error-messages.ts';
import { createFrameReader, encodeFrame, type Frame, ProtocolError } from './frames.ts';
import {
  BEAT_MS,
  METHODS,
  type Method,
  type Params,
  type Result,
  replyMessage,
} from './messages.ts';

/** Beats that may be missed: a container short of processor time is no dead one. */
const MAX_MISSED_BEATS = 30;

export interface ProtocolClientDeps {
  /** Says why the sandbox is gone, asked once; its answer becomes the message of `SandboxLostError`. */
  explainLoss(what: string): Promise<string>;
}

export interface CallOptions {
  bytes?: Uint8Array;
  /** Aborts the call over there; its answer still comes. */
  signal?: AbortSignal | undefined;
}

export interface ProtocolClient {
  call<M extends Method>(
    method: M,
    params: Params<M>,
    options?: CallOptions,
  ): Promise<{ result: Result<M>; bytes: Uint8Array }>;
  /** Resolves once the daemon has said anything at all; rejects with `SandboxLostError`. */
  readonly heard: Promise<void>;
  /** Resolves, to why, when the sandbox is gone or was given up. */
  readonly lost: Promise<SandboxLostError>;
  /** Gives the sandbox up: pending and later calls throw `SandboxLostError`. */
  lose(what: string): void;
  /** The same for one that was closed on purpose. */
  close(): void;
}

interface Pending {
  method: Method;
  settle(answer: { result: unknown; bytes: Uint8Array } | Error): void;
}

/** The agent's side of a stream to a sandbox daemon, whose every answer is hostile input. */
export function createProtocolClient(stream: Duplex, deps: ProtocolClientDeps): ProtocolClient {
  const pending = new Map<number, Pending>();
  let count = 0;
  let missed = 0;
  let loss: Promise<SandboxLostError> | undefined;
  let tellHeard: () => void = () => undefined;
  let tellLost: (why: Promise<SandboxLostError>) => void = () => undefined;
  const lost = new Promise<SandboxLostError>((resolve) => {
    tellLost = resolve;
  });
  const heard = new Promise<void>((resolve, reject) => {
    tellHeard = resolve;
    void lost.then(reject);
  });
  heard.catch(() => undefined);

  function end(why: Promise<string>): void {
    if (loss !== undefined) return;
    clearInterval(watch);
    stream.destroy();
    loss = why.then((message) => new SandboxLostError(message));
    tellLost(loss);
    void loss.then((error) => {
      for (const { settle } of pending.values()) settle(error);
      pending.clear();
    });
  }

  function lose(what: string): void {
    if (loss === undefined) end(deps.explainLoss(what).catch(() => what));
  }

  function send(json: unknown, bytes: Uint8Array = new Uint8Array()): void {
    for (const part of encodeFrame({ json: JSON.stringify(json), bytes })) stream.write(part);
  }

  function onFrame({ json, bytes }: Frame): void {
    const message = replyMessage.parse(JSON.parse(json));
    if ('beat' in message) return;
    const waiting = pending.get(message.id);
    if (waiting === undefined) throw new ProtocolError('an answer to no question');
    const answer =
      'error' in message
        ? messageToError(message.error)
        : { result: METHODS[waiting.method].result.parse(message.result), bytes };
    pending.delete(message.id);
    waiting.settle(answer);
  }

  const read = createFrameReader(onFrame);
  stream.on('data', (chunk: Uint8Array) => {
    missed = 0;
    if (loss !== undefined) return;
    tellHeard();
    try {
      read(chunk);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      lose(`the sandbox sent what its protocol does not allow: ${why.slice(0, 500)}`);
    }
  });
  for (const event of ['end', 'close', 'error']) {
    stream.on(event, () => lose('the sandbox ended'));
  }
  const watch = setInterval(() => {
    missed += 1;
    if (missed > MAX_MISSED_BEATS) {
      lose(`nothing was heard from the sandbox for ${(missed * BEAT_MS) / 1_000} s`);
    }
  }, BEAT_MS);
  watch.unref();

  return {
    heard,
    lost,
    lose,
    close: () => end(Promise.resolve('the sandbox is closed')),
    async call<M extends Method>(method: M, params: Params<M>, options: CallOptions = {}) {
      if (loss !== undefined) throw await loss;
      count += 1;
      const id = count;
      const abort = () => {
        if (loss === undefined) send({ abort: id });
      };
      const answer = await new Promise<{ result: unknown; bytes: Uint8Array } | Error>((settle) => {
        pending.set(id, { method, settle });
        try {
          send({ id, method, params }, options.bytes);
        } catch (error) {
          pending.delete(id);
          settle(error instanceof Error ? error : new Error(String(error)));
        }
        options.signal?.addEventListener('abort', abort, { once: true });
        if (options.signal?.aborted === true) abort();
      });
      options.signal?.removeEventListener('abort', abort);
      if (answer instanceof Error) throw answer;
      // Parsed by this method's own schema.
      return { result: answer.result as Result<M>, bytes: answer.bytes };
    },
  };
}
