import { onTestFinished } from 'vitest';
import { createOpenAiModel } from '../../../src/adapters/openai/openai-model.ts';
import type { OpenAiModelOptions } from '../../../src/adapters/openai/openai-options.ts';
import type { Clock } from '../../../src/core/ports/clock.ts';
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
} from '../../../src/core/ports/model.ts';
import {
  type ModelServer,
  type ModelServerScript,
  startModelServer,
} from '../../support/model-server.ts';
import { type FastClock, fastClock } from './fast-clock.ts';

export const USER: ModelMessage = { role: 'user', content: 'List the files.' };

export const TERMINAL = {
  name: 'terminal',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } } },
};

export function optionsFor(
  baseUrl: string,
  more: Partial<OpenAiModelOptions> = {},
): OpenAiModelOptions {
  return {
    baseUrl,
    apiKey: 'sk-test-key-0123456789',
    model: 'test/model',
    providersAllowed: [],
    providersIgnored: [],
    providersOrder: [],
    reasoningDisabled: false,
    maxConnections: 8,
    requestTimeoutMs: 10_000,
    ...more,
  };
}

export interface UnderTest {
  server: ModelServer;
  model: Model & { close(): Promise<void> };
  clock: FastClock;
}

/** A model in front of a server that answers by `reply`; both go away with the test. */
export async function underTest(
  reply: ModelServerScript['reply'],
  more: Partial<OpenAiModelOptions> = {},
  realClock?: Clock,
): Promise<UnderTest> {
  const server = await startModelServer({ reply });
  const clock = fastClock();
  const deps = { clock: realClock ?? clock, random: () => 0.5 };
  const model = createOpenAiModel(optionsFor(server.baseUrl, more), deps);
  onTestFinished(async () => {
    await model.close();
    await server.close();
  });
  return { server, model, clock };
}

/** A request of one user message, with an own signal. */
export function ask(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    promptId: 'p-0',
    messages: [USER],
    tools: [],
    signal: new AbortController().signal,
    ...more,
  };
}

/** The `ModelError` with which `call` rejects; anything else fails the test. */
export async function modelErrorOf(call: Promise<unknown>): Promise<ModelError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('expected a ModelError, got a reply');
}
