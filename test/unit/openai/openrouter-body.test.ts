import { expect, test } from 'vitest';
import { ignoredOptions } from '../../../src/adapters/openai/ignored-options.ts';
import {
  isOpenRouter,
  type OpenAiModelOptions,
} from '../../../src/adapters/openai/openai-options.ts';
import { NO_QUIRKS } from '../../../src/adapters/openai/quirks.ts';
import { buildRequestBody } from '../../../src/adapters/openai/request-body.ts';

const OPENROUTER = 'https://openrouter.ai/api/v1';

function options(more: Partial<OpenAiModelOptions>): OpenAiModelOptions {
  return {
    baseUrl: OPENROUTER,
    model: 'm',
    providersAllowed: [],
    providersIgnored: [],
    providersOrder: [],
    reasoningDisabled: false,
    maxConnections: 1,
    requestTimeoutMs: 1_000,
    ...more,
  };
}

function fieldsOf(more: Partial<OpenAiModelOptions>): unknown {
  const { json } = buildRequestBody({ messages: [], tools: [] }, options(more), NO_QUIRKS);
  const { model, messages, ...fields } = JSON.parse(json);
  return fields;
}

test.each([
  [OPENROUTER, true],
  ['https://eu.openrouter.ai/api/v1', true],
  ['https://openrouter.ai.example.com/v1', false],
  ['https://notopenrouter.ai/v1', false],
  ['http://127.0.0.1:8000/openrouter.ai/v1', false],
])('%s is OpenRouter: %s', (baseUrl, expected) => {
  expect(isOpenRouter(baseUrl)).toBe(expected);
});

const EVERYTHING = {
  providersAllowed: ['a'],
  providersIgnored: ['b'],
  providersOrder: ['c', 'd'],
  providerSort: 'price',
  reasoningEffort: 'none',
};

test.each<[string, Partial<OpenAiModelOptions>, unknown]>([
  ['nothing asked', {}, {}],
  [
    'everything',
    EVERYTHING,
    {
      provider: { only: ['a'], ignore: ['b'], order: ['c', 'd'], sort: 'price' },
      reasoning: { effort: 'none' },
    },
  ],
  ['one list', { providersIgnored: ['b'] }, { provider: { ignore: ['b'] } }],
  ['reasoning off', { reasoningDisabled: true }, { reasoning: { enabled: false } }],
  [
    'reasoning off and an effort',
    { reasoningDisabled: true, reasoningEffort: 'high' },
    { reasoning: { enabled: false } },
  ],
  [
    'extra body beside flags',
    { reasoningEffort: 'low', extraBody: { reasoning: { exclude: true }, top_p: 1 } },
    { reasoning: { effort: 'low', exclude: true }, top_p: 1 },
  ],
  [
    'extra body against a flag',
    { providerSort: 'price', extraBody: { provider: { sort: 'throughput' } } },
    { provider: { sort: 'throughput' } },
  ],
])('OpenRouter with %s', (_, more, fields) => {
  expect(fieldsOf(more)).toEqual(fields);
});

test.each<[string, Partial<OpenAiModelOptions>, unknown, string[]]>([
  [
    'flags alone',
    EVERYTHING,
    {},
    [
      'providers_allowed',
      'providers_ignored',
      'providers_order',
      'provider_sort',
      'reasoning_effort',
    ],
  ],
  ['reasoning off', { reasoningDisabled: true }, {}, ['reasoning_disabled']],
  [
    'extra body for one of them',
    { providersOrder: ['c'], reasoningEffort: 'high', extraBody: { provider: {} } },
    { provider: { order: ['c'] } },
    ['reasoning_effort'],
  ],
  [
    'extra body against the run',
    { extraBody: { model: 'x', stream: true } },
    {},
    ['extra_body.model', 'extra_body.stream'],
  ],
])(
  'another host with %s: what is sent and what is named as ignored',
  (_, more, fields, ignored) => {
    const here = { baseUrl: 'http://127.0.0.1:8000/v1', ...more };
    expect(fieldsOf(here)).toEqual(fields);
    expect(ignoredOptions(options(here))).toEqual(ignored);
  },
);

test('nothing is ignored at OpenRouter', () => {
  expect(ignoredOptions(options(EVERYTHING))).toEqual([]);
});
