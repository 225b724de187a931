import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys, uploadKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';

describe.skipIf(!hasEmulator())('what comes with an upload', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'uploads');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  const runFile = async (run: string) =>
    runFileSchema.parse(JSON.parse((await view.text(runKeys(run).manifest)) ?? ''));
  const upload = async (run: string, ...rows: object[]) =>
    await view.upload(`datasets/${run}/d.jsonl`, jsonl(...rows));
  /** What batches hold, as text. */
  const planOf = async (run: string) =>
    (await view.batches(run)).map(
      ({ pass, batch, prompts }) =>
        `${pass}/${batch}: ${prompts.map((of) => `${of.index}.${of.sample}#${of.occurrence}+${of.attempts_before}`).join(' ')}`,
    );

  it('takes the run.json of another run, and the distribution in it', async () => {
    const starter = createStarter(resources);
    await view.put(
      uploadKeys('source').config,
      JSON.stringify({
        batch_size: 2,
        distribution: 'mine',
        distributions: { mine: { toolsets: { terminal: 100, file: 50 } } },
      }),
    );
    await starter.start(await upload('source', { prompt: 'a' }));
    const source = await runFile('source');
    expect(source.manifest.distribution).toEqual({
      name: 'mine',
      toolsets: { terminal: 100, file: 50 },
    });
    await view.put(uploadKeys('copy').config, JSON.stringify(source));
    await starter.start(await upload('copy', { prompt: 'a' }));
    const copy = await runFile('copy');
    expect(copy).toMatchObject({ run_name: 'copy', batch_size: 2, distribution: 'mine' });
    expect(copy.manifest.tools).toEqual(source.manifest.tools);
    expect(copy.passes).toHaveLength(1);
  });

  it('moves private.json to the run and writes only its hashes', async () => {
    const starter = createStarter(resources);
    const secret = {
      ephemeral_system_prompt: 'never show this',
      prefill_messages: [{ role: 'user', content: 'nor this' }],
    };
    const beside = uploadKeys('secret').privateFile;
    await view.put(beside, JSON.stringify(secret));
    await starter.start(await upload('secret', { prompt: 'a' }));
    expect(await view.text(beside)).toBeUndefined();
    expect(JSON.parse((await view.text(runKeys('secret').privateFile)) ?? '')).toEqual(secret);
    const { manifest } = await runFile('secret');
    expect(manifest.ephemeral_system_prompt_sha256).toBe(starter.deps.sha256Hex('never show this'));
    expect(manifest.prefill_messages_sha256).toBe(
      starter.deps.sha256Hex(JSON.stringify(secret.prefill_messages)),
    );
    expect(await view.text(runKeys('secret').manifest)).not.toMatch(/never show|nor this/);

    // A later pass keeps it, and may not have another.
    await view.endPass('secret');
    await starter.start(await upload('secret', { prompt: 'b' }));
    expect(await view.run('secret')).toMatchObject({ state: 'running', pass: 2 });
    expect(JSON.parse((await view.text(runKeys('secret').privateFile)) ?? '')).toEqual(secret);
    await view.endPass('secret');
    await view.put(beside, JSON.stringify({ ephemeral_system_prompt: 'one more' }));
    await starter.start(await upload('secret', { prompt: 'c' }));
    const { state, reason } = await view.run('secret');
    expect(state).toBe('done');
    expect(reason).toMatch(/^ephemeral_system_prompt can't change within a run/);
    expect(JSON.stringify(starter.lines)).not.toMatch(/never show|nor this|one more/);
    expect(await view.text(beside)).toBeDefined();
  });

  it('reads the versions of the claim, whatever is uploaded meanwhile', async () => {
    const starter = createStarter(resources);
    await view.put(uploadKeys('versions').config, JSON.stringify({ batch_size: 1 }));
    const event = await upload('versions', { prompt: 'a' }, { prompt: 'b' });
    const { claims } = starter.deps;
    starter.deps.claims = {
      ...claims,
      async begin(run) {
        const begun = await claims.begin(run);
        await view.put(uploadKeys('versions').config, JSON.stringify({ batch_size: 8 }));
        await upload('versions', { prompt: 'c' });
        return begun;
      },
    };
    await starter.start(event);
    expect(await planOf('versions')).toEqual(['1/0: 0.0#0+0', '1/1: 1.0#0+0']);
    expect(await view.text(runKeys('versions').input(1))).toBe(
      jsonl({ prompt: 'a' }, { prompt: 'b' }),
    );
  });
});
