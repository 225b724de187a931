import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keysUnder, objectText, putObject } from '../../support/bucket-objects.ts';
import { useCloud } from '../../support/cloud-run.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, runtimeBases } from '../../support/docker-images.ts';
import { hasEmulator } from '../../support/emulator.ts';
import { hasRegistry, type ImageRegistry, startRegistry } from '../../support/image-registry.ts';
import { startModelServer } from '../../support/model-server.ts';
import { refusal, text } from '../../support/model-server-replies.ts';
import { digests, expectSound, filesUnder } from '../../support/run-files.ts';
import { comparable, comparableStatistics } from '../../support/same-run.ts';

const CACHE = new URL('../../../.cache/', import.meta.url).pathname;
const canRun = hasEmulator() && (await hasDocker()) && hasRegistry();
/** Of more than one image, with and without `cwd`, twice each; some end at a limit, some fail. */
const FLAGS = [
  '--model=rehearsal',
  '--samples_per_prompt=2',
  '--seed=7',
  '--max_turns=4',
  '--max_attempts=2',
];

describe.runIf(canRun)('one dataset, locally and in the cloud', { timeout: 600_000 }, () => {
  const cloud = useCloud('talaria-same');
  let registry: ImageRegistry;
  let rows: Record<string, unknown>[];
  let flags: string[];
  beforeAll(async () => {
    const docker = new Docker();
    registry = await startRegistry();
    const [bash, busybox, user] = [
      await makeImage(docker, 'bash'),
      await makeImage(docker, 'busybox'),
      await makeImage(docker, 'user'),
    ];
    flags = [...FLAGS, `--default_image=${bash}`];
    rows = [
      { prompt: 'no image', topic: 'a', level: 3 },
      { prompt: 'a user of its own', image: user },
      { prompt: 'no bash', image: busybox, cwd: '/srv/work' },
      { prompt: 'no image', topic: 'b' },
      { prompt: 'an image that is not there', image: `${registry.host}/none:1` },
      { prompt: 'lines: \u2028 and \ud800 and é', docker_image: busybox },
      { prompt: 'a relative folder', image: user, cwd: 'deep/er' },
      { prompt: 'a folder that can not be', image: busybox, cwd: '/proc/none/here' },
      { prompt: 'no image, in a folder', cwd: '/tmp/own' },
      { prompt: 'no bash', image: busybox, cwd: '/srv/work' },
    ];
    const bases = await runtimeBases(docker);
    await cloud.submit('four', rows, '--batch_size=4', ...flags);
    const submitted = await cloud.submit('ten', rows, '--batch_size=10', ...flags);
    expect(submitted.stderr).toContain('batch_size 10 is lowered to 8');
    await cloud.dataset('local.jsonl', rows);
    const local = await cloud.local(
      [
        'run',
        '--dataset_file=local.jsonl',
        '--run_name=local',
        '--batch_size=4',
        '--sandbox=docker',
        ...flags,
      ],
      {
        XDG_CACHE_HOME: CACHE,
        TALARIA_NODE_IMAGE: bases['NODE_IMAGE'] ?? '',
        TALARIA_BUSYBOX_IMAGE: bases['BUSYBOX_IMAGE'] ?? '',
      },
    );
    // Some have failed.
    expect(local, local.stderr).toMatchObject({ code: 1 });
  }, 600_000);
  afterAll(() => registry?.stop());

  it('gives the same rows, statistics and coverage in batches of four', async () => {
    expect(await cloud.until('four', ENDED)).toMatchObject({
      state: 'done',
    });
    const folder = await cloud.download('four');
    const there = expectSound(folder);
    const here = expectSound(cloud.folder('local'));
    expect(here.statistics.coverage).toMatchObject(COVERAGE);
    expect(comparable(there)).toEqual(comparable(here));
    expect(comparableStatistics(there)).toEqual(comparableStatistics(here));
    const gone = there.failed.find(({ outcome }) => outcome === 'failed/image_unavailable');
    expect(gone?.reason).toBe(`${registry.host}/none:1: its registry has no such image (404)`);
    const before = digests(folder);
    const merged = await cloud.local(['merge', '--run_name=four']);
    expect(merged, merged.stderr).toMatchObject({ code: 0 });
    expect(digests(folder)).toEqual(before);
  });

  it('lowers batches of ten to eight, says so, and gives the same rows', async () => {
    expect(await cloud.until('ten', ENDED)).toMatchObject({ state: 'done' });
    const there = expectSound(await cloud.download('ten'));
    expect(comparable(there)).toEqual(comparable(expectSound(cloud.folder('local'))));
    expect(there.runFile.passes[0]?.notices?.[0]).toContain('batch_size 10 is lowered to 8');
  });

  it('asks the model with what is private, with the key of its host or none, and buys nothing twice', async () => {
    const prompts = ['one', 'two', 'three', 'four', 'five'];
    const rows = prompts.map((prompt) => ({ prompt }));
    let free = 2;
    const server = await startModelServer({
      reply({ headers, body }) {
        const isPaid = headers.authorization === `Bearer ${KEY}`;
        if (!isPaid && free === 0) return refusal(401, 'No key, no answer: ask our sales.');
        if (!isPaid) free -= 1;
        return text(`Yes, ${body.messages.at(-1)?.content}.`);
      },
    });
    const { host } = new URL(server.baseUrl);
    const bought = () =>
      server.requests.filter(({ headers }, at) => at < 2 || headers.authorization !== undefined);
    const boughtPrompts = () => bought().map(({ body }) => body.messages.at(-1)?.content);
    await cloud.setKey('openrouter.ai', OTHER_KEY);
    await cloud.write('prefill.json', JSON.stringify([{ role: 'user', content: PREFILL }]));

    await cloud.submit(
      'keys',
      rows,
      '--batch_size=2',
      '--num_workers=1',
      '--model=test/model',
      `--base_url=${server.baseUrl}`,
      `--ephemeral_system_prompt=${EPHEMERAL}`,
      '--prefill_messages_file=prefill.json',
    );
    const paused = await cloud.until('keys', ENDED);
    expect(paused).toMatchObject({ state: 'paused' });
    expect(paused.reason).toContain('No key, no answer: ask our sales.');
    const shown = await cloud.talaria(['status', 'keys']);
    expect(shown).toMatchObject({ code: 1 });
    expect(shown.stdout).toMatch(/keys: paused[\s\S]*No key, no answer: ask our sales\./);
    expect(server.requests).toHaveLength(3);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);

    await cloud.setKey(host, KEY);
    const again = await cloud.submit('keys', rows);
    expect(again.stderr).toContain('pass 2: what is done is not bought again');
    expect(await cloud.until('keys', ENDED, 2)).toMatchObject({ state: 'done', reason: '' });
    expect(boughtPrompts().sort()).toEqual([...prompts].sort());
    expect(server.requests).toHaveLength(6);

    // Moved, one withdrawn, one once more, and two that are new.
    const later = ['six', 'five', 'one', 'three', 'one', 'four', 'seven'];
    const before = server.requests.length;
    await cloud.submit(
      'keys',
      later.map((prompt) => ({ prompt })),
    );
    expect(await cloud.until('keys', ENDED, 3)).toMatchObject({ state: 'done' });
    expect(
      boughtPrompts()
        .slice(before - 1)
        .sort(),
    ).toEqual(['one', 'seven', 'six']);

    for (const { body } of server.requests) {
      expect(body.messages.slice(0, -1)).toEqual([
        { role: 'system', content: EPHEMERAL },
        { role: 'user', content: PREFILL },
      ]);
    }
    const run = expectSound(await cloud.download('keys'));
    expect(run.statistics.coverage).toMatchObject({ planned: 8, completed: 8, pending: 0 });
    expect(run.statistics.attempts).toBe(9);
    expect(run.ledger.filter(({ outcome }) => outcome === 'failed/auth')).toHaveLength(1);
    const kept = [
      ...filesUnder(cloud.folder('keys')).map((name) =>
        readFileSync(join(cloud.folder('keys'), name)),
      ),
      await cloud.logs(),
    ].join('\n');
    expect(kept).toContain('Yes, seven.');
    expect(kept).toContain('attempt ended');
    expect(kept).not.toMatch(new RegExp([EPHEMERAL, PREFILL, KEY, OTHER_KEY].join('|')));
    expect(await keysUnder(cloud.bucket, 'datasets/keys/')).toEqual([
      'datasets/keys/keys.jsonl',
      'datasets/keys/run.json',
    ]);
    await server.close();
  });

  it('says why an upload is refused, and takes a better one', async () => {
    const { bucket } = cloud;
    await putObject(bucket, 'datasets/empty/prompts.jsonl', '');
    await putObject(bucket, 'datasets/wrong/run.json', '{"batch_size":0,"model":"rehearsal"}');
    await putObject(bucket, 'datasets/wrong/prompts.jsonl', '{"prompt":"x"}\n');
    for (const [run, words] of [
      ['empty', 'prompts.jsonl'],
      ['wrong', 'batch_size in run.json'],
    ] as const) {
      const { refused } = await cloud.until(run, ENDED);
      expect(refused?.error).toContain(words);
      const stored = JSON.parse((await objectText(bucket, `runs/${run}/error.json`)) ?? '');
      expect(stored).toMatchObject(refused ?? {});
      const shown = await cloud.talaria(['status', run]);
      expect(shown).toMatchObject({ code: 1 });
      expect(shown.stdout).toContain(`${run}: failed`);
      expect(shown.stdout).toContain(words);
    }
    await cloud.submit('wrong', [{ prompt: 'x' }], '--batch_size=1', '--model=rehearsal');
    expect(await cloud.until('wrong', ['done', 'paused'])).toMatchObject({
      state: 'done',
      refused: null,
    });
    // What would make another run of it leaves it as it was.
    await putObject(bucket, 'datasets/wrong/run.json', '{"model":"other"}');
    await putObject(bucket, 'datasets/wrong/prompts.jsonl', '{"prompt":"y"}\n');
    await vi.waitFor(
      async () => expect(await objectText(bucket, 'runs/wrong/error.json')).toContain('model'),
      WAIT,
    );
    expect(await cloud.until('wrong', ENDED)).toMatchObject({
      state: 'done',
      refused: { error: expect.stringContaining("model can't change within a run") },
    });
    expect((await cloud.talaria(['status', 'wrong'])).code).toBe(1);
  });
});

const COVERAGE = { planned: 20, completed: 13, partial: 3, discarded: 0, failed: 4, pending: 0 };
const ENDED = ['done', 'failed', 'paused'] as const;
const WAIT = { timeout: 60_000, interval: 500 };
const EPHEMERAL = 'Answer like a quiet heron.';
const PREFILL = 'Few words were shot.';
const KEY = 'sk-of-this-host';
const OTHER_KEY = 'sk-of-another-host';
