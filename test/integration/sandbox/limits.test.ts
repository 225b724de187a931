import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, runtimeBases } from '../../support/docker-images.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { text, toolCall } from '../../support/model-server-replies.ts';
import { readRun } from '../../support/run-files.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';

const CACHE = new URL('../../../.cache/', import.meta.url).pathname;
const isThere = await hasDocker();

describe.runIf(isThere)('a run whose prompts go beyond limits', { timeout: 180_000 }, () => {
  let shop: Workshop;
  let provider: ModelServer;
  beforeAll(async () => {
    shop = await makeWorkshop();
    // Each prompt is one call's arguments; then follows `echo on`, then the answer.
    provider = await startModelServer({
      reply({ body: { messages } }) {
        const prompt = messages.findLast(({ role }) => role === 'user')?.content ?? '{}';
        const calls = [JSON.parse(prompt), { command: 'echo on' }];
        const next = calls[messages.filter(({ role }) => role === 'tool').length];
        return next === undefined ? text('done') : toolCall('terminal', next);
      },
    });
  }, 120_000);
  afterAll(async () => {
    await shop.dispose();
    await provider.close();
  });

  it('ends theirs with a reason, and no other', async () => {
    const docker = new Docker();
    const [image, bases] = [await makeImage(docker, 'bash'), await runtimeBases(docker)];
    const files = 'for i in 1 2 3 4; do head -c 50000000 /dev/zero > f$i; done; sleep 60';
    const memory = 'x=$(head -c 400000000 /dev/zero | tr "\\0" x); echo "$x" | wc -c';
    const calls = {
      files: { command: files },
      file: { command: 'head -c 200000000 /dev/zero > big' },
      memory: { command: memory },
      bomb: { command: 'f() { f | f & }; f; sleep 2', timeout: 3 },
      terminal: { command: 'test -t 0 && test -t 1 && stty size', pty: true },
    };
    await shop.dataset(
      Object.values(calls).map((call) => ({ prompt: JSON.stringify(call), image })),
    );
    const { code, stderr } = await shop.run(
      {
        ...{ model: 'm', base_url: provider.baseUrl, api_key: 'sk-none', run_name: 'limits' },
        ...{ toolsets: 'terminal', num_workers: 5, max_attempts: 1, sandbox_network: 'none' },
        ...{ sandbox_disk: 64, sandbox_memory: 128, sandbox_pids: 64 },
      },
      {
        env: {
          XDG_CACHE_HOME: CACHE,
          TALARIA_NODE_IMAGE: bases['NODE_IMAGE'] ?? '',
          TALARIA_BUSYBOX_IMAGE: bases['BUSYBOX_IMAGE'] ?? '',
        },
      },
    );
    expect([code, stderr]).toEqual([1, expect.not.stringContaining('Error')]);
    const { trajectories, failed } = readRun(shop.folder('limits'));
    const rows = [...trajectories, ...failed];
    const shown = Object.fromEntries(
      Object.keys(calls).map((name, index) => {
        const row = rows.find((one) => one.prompt_index === index);
        const results = row?.conversations.filter(({ from }) => from === 'tool') ?? [];
        return [
          name,
          [row?.outcome, row?.reason, ...results.map(({ value }) => JSON.parse(value))],
        ];
      }),
    );
    const on = { output: 'on\n', exit_code: 0, error: null };
    expect(shown).toEqual({
      files: ['failed/sandbox_lost', expect.stringMatching(/more than its limit of 64 MiB/)],
      file: ['completed', '', expect.objectContaining({ exit_code: 153 }), on],
      memory: [
        'completed',
        '',
        { output: '', exit_code: 137, error: expect.stringContaining('memory ran out') },
        on,
      ],
      bomb: ['completed', '', expect.anything(), expect.anything()],
      terminal: ['completed', '', { output: '24 80\n', exit_code: 0, error: null }, on],
    });
    const filters = { label: ['talaria.run=limits'] };
    const left = await docker.listContainers({ all: true, filters });
    expect(left.map(({ Labels }) => Labels['talaria.prompt'])).toEqual([]);
  });
});
