import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { text } from '../../support/model-server-replies.ts';
import { filesUnder } from '../../support/run-files.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const KEYS = { OPENROUTER_API_KEY: 'sk-or-0123456789', OPENAI_API_KEY: 'sk-oa-0123456789' };
let server: ModelServer;
let runs = 0;
beforeEach(async () => {
  server = await startModelServer({ reply: () => text('Done.') });
  await folder.write('prompts.jsonl', '{"prompt":"one"}\n');
});
afterEach(() => server.close());

async function run(words: readonly string[], env: Record<string, string> = {}) {
  runs += 1;
  const name = `run-${runs}`;
  const fixed = ['run', '--dataset_file=prompts.jsonl', '--batch_size=1', `--run_name=${name}`];
  const end = await folder.talaria(
    [...fixed, `--base_url=${server.baseUrl}`, '--model=some/model', ...words],
    { env },
  );
  expect(end.code, end.stderr).toBe(0);
  const [request] = server.requests;
  if (request === undefined) throw new Error('no request came');
  return { end, request, folder: folder.at('data', name) };
}

describe('the key', () => {
  it('of the environment is not sent to a host it is not for', async () => {
    const { request } = await run([], KEYS);
    const sent = JSON.stringify([request.headers, request.text]);
    expect(request.headers.authorization).toBeUndefined();
    for (const key of Object.values(KEYS)) expect(sent).not.toContain(key);
  });

  it('of the flag is', async () => {
    const { request } = await run(['--api-key', 'sk-flag-0123456789'], KEYS);
    expect(request.headers.authorization).toBe('Bearer sk-flag-0123456789');
  });

  it('is asked for with three ways on where there is none', async () => {
    const end = await folder.talaria([
      'run',
      '--dataset_file=prompts.jsonl',
      '--batch_size=1',
      '--run_name=no-key',
    ]);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    for (const way of ['--api_key', '--base_url=http', '--model=rehearsal']) {
      expect(end.stderr).toContain(way);
    }
  });
});

describe('the body', () => {
  it('has nothing that was not asked for', async () => {
    const { request } = await run([]);
    expect(Object.keys(request.body).sort()).toEqual(['messages', 'model', 'tools']);
    expect(request.body.model).toBe('some/model');
    expect(request.body.messages).toEqual([{ role: 'user', content: 'one' }]);
  });

  it('has max_tokens, and leaves out what only OpenRouter knows, saying so', async () => {
    const routing = ['--providers_allowed=a,b', '--provider-sort=price', '--reasoning_effort=high'];
    const { request, end } = await run(['--max_tokens=77', ...routing]);
    expect(Object.keys(request.body).sort()).toEqual(['max_tokens', 'messages', 'model', 'tools']);
    expect(request.body['max_tokens']).toBe(77);
    for (const flag of ['providers_allowed', 'provider_sort', 'reasoning_effort']) {
      expect(end.stderr).toContain(`--${flag} has no effect at this endpoint; --extra_body has`);
    }
  });

  it('has provider and reasoning where --extra_body says that the endpoint takes them', async () => {
    const { request } = await run([
      '--extra_body={"provider":{"data_collection":"deny"},"reasoning":{"exclude":false}}',
      ...['--providers_allowed=a,b', '--providers_ignored=c', '--providers_order=b,a'],
      ...['--provider_sort=latency', '--reasoning_effort=low'],
    ]);
    expect(request.body['provider']).toEqual({
      only: ['a', 'b'],
      ignore: ['c'],
      order: ['b', 'a'],
      sort: 'latency',
      data_collection: 'deny',
    });
    expect(request.body['reasoning']).toEqual({ effort: 'low', exclude: false });
  });

  it('has the ephemeral prompt and the prefill, which stand nowhere else', async () => {
    const prefill = [
      { role: 'user', content: 'SECRET-EXAMPLE' },
      { role: 'assistant', content: 'SECRET-ANSWER' },
    ];
    await folder.write('prefill.json', JSON.stringify(prefill));
    const ran = await run([
      '--ephemeral_system_prompt=SECRET-PERSONA',
      '--prefill_messages_file=prefill.json',
      ...['--verbose', '--log_prefix_chars=100000'],
    ]);
    expect(ran.request.body.messages).toEqual([
      { role: 'system', content: 'SECRET-PERSONA' },
      ...prefill,
      { role: 'user', content: 'one' },
    ]);
    expect(ran.end.stdout + ran.end.stderr).not.toContain('SECRET');
    const holding = filesUnder(ran.folder).filter((name) =>
      readFileSync(`${ran.folder}/${name}`, 'utf8').includes('SECRET'),
    );
    expect(holding).toEqual(['private.json']);
  });

  it.each([
    ['{"role":"user"}', 'expected a JSON array'],
    ['[{"role":"robot","content":"x"}]', '0.role'],
    ['[', 'as JSON'],
  ])('is not sent with a prefill of %s', async (content, message) => {
    await folder.write('wrong.json', content);
    const words = ['--dataset_file=prompts.jsonl', '--batch_size=1', '--run_name=wrong'];
    const end = await folder.talaria([
      'run',
      ...words,
      `--base_url=${server.baseUrl}`,
      '--prefill_messages_file=wrong.json',
    ]);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('--prefill_messages_file: ');
    expect(end.stderr).toContain(message);
    expect(server.requests).toEqual([]);
  });
});
