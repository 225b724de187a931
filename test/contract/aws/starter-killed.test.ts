import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from '../../../functions/starter/starter.ts';
import { runKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { PLANNER_LEASE_MS } from '../../../src/core/cloud/plan/plan-hold.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { KilledError, killAt } from '../../support/killed-starter.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';

const FIRST = jsonl(...Array.from({ length: 5 }, (_, at) => ({ prompt: `p${at}`, image: 'one' })), {
  prompt: 'q',
});
/** One is gone, one is new, one comes twice. */
const SECOND = jsonl(
  ...Array.from({ length: 4 }, (_, at) => ({ prompt: `p${at}`, image: 'one' })),
  { prompt: 'q' },
  { prompt: 'new' },
  { prompt: 'q' },
);

describe.skipIf(!hasEmulator())('a starter that is killed after any write', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'killed');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  /** What a run has when its pass goes, whatever its name. */
  async function stateOf(name: string) {
    const { state, pass, batches_total: total, planner } = await view.run(name);
    const { passes } = runFileSchema.parse(
      JSON.parse((await view.text(runKeys(name).manifest)) ?? ''),
    );
    const batches = (await view.batches(name)).map(
      ({ run_name: _run, queued_at: _at, lease_until: _until, ...batch }) => batch,
    );
    const inputs = await Promise.all(
      passes.map(({ pass: of }) => view.text(runKeys(name).input(of))),
    );
    return {
      run: { state, pass, total, planner },
      passes: passes.map(({ started_at: _at, ...of }) => of),
      batches,
      inputs,
    };
  }

  /** Brings a run up to the event of the pass that is tried. */
  async function prepare(name: string, pass: 1 | 2) {
    const key = `datasets/${name}/d.jsonl`;
    const first = await view.upload(key, FIRST);
    if (pass === 1) return first;
    await createStarter(resources).start(first);
    const [batch, , last] = await view.batches(name);
    const [done, failed] = batch?.prompts ?? [];
    if (done === undefined || failed === undefined) throw new Error('no prompts');
    await view.putOutcome(name, done, 'completed', 1);
    await view.putOutcome(name, failed, 'failed/model_error', 3);
    for (const of of last?.prompts ?? [])
      await view.putOutcome(name, of, 'discarded/no_reasoning', 2);
    await view.endPass(name);
    await view.messages(name);
    return await view.upload(key, SECOND);
  }

  it.each([1, 2] as const)('pass %d', { timeout: 120_000 }, async (pass) => {
    const reference = `undisturbed-${pass}`;
    await createStarter(resources).start(await prepare(reference, pass));
    const undisturbed = await stateOf(reference);
    expect(undisturbed.run).toMatchObject({ state: 'running', pass, planner: null });

    const tried: string[] = [];
    for (let at = 1; ; at += 1) {
      const name = `killed-${pass}-${at}`;
      const event = await prepare(name, pass);
      const starter = createStarter(resources);
      const killed = killAt(starter.deps, at);
      const sent = watchSends(name, killed.deps);
      await start(event, killed.deps).catch((error: Error) => {
        if (!(error instanceof KilledError)) throw error;
      });
      if (!killed.wasKilled()) break;
      tried.push(killed.writes.at(-1) ?? '');

      // AWS tries the event again, sooner or later.
      const next = createStarter(resources);
      next.pass(PLANNER_LEASE_MS + 1);
      watchSends(name, next.deps);
      await next.start(event);
      expect(await stateOf(name), `${killed.writes.at(-1)}`).toEqual(undisturbed);
      const told = new Set((await view.messages(name)).map(({ batch }) => batch));
      for (const batch of sent.lost()) told.add(batch);
      const own = undisturbed.batches.filter((batch) => batch.pass === pass);
      expect([...told].sort((a, b) => a - b)).toEqual(own.map(({ batch }) => batch));
    }
    expect(new Set(tried)).toEqual(
      new Set([
        `claims.${pass === 1 ? 'begin' : 'claim'}`,
        'input.close',
        'files.remove',
        'files.replace',
        'planned.put',
        'planned.removeFrom',
        'claims.start',
        'batches.queue',
        'queue.send',
        'claims.finish',
        'nudge',
      ]),
    );
  });

  /** No message may be sent before its pass is whole; notes batches whose message went nowhere. */
  function watchSends(name: string, deps: ReturnType<typeof killAt>['deps']) {
    const { queue, batches } = deps;
    const queued = new Set<number>();
    deps.batches = {
      read: (ids) => batches.read(ids),
      open: (...of) => batches.open(...of),
      attempts: (id) => batches.attempts(id),
      close: (...of) => batches.close(...of),
      async queue(batch, now) {
        queued.add(batch.batch);
        return await batches.queue(batch, now);
      },
    };
    deps.queue = {
      async send(messages) {
        const run = await view.run(name);
        expect(run.state).toBe('running');
        expect(await view.batches(name)).toHaveLength(run.batches_total);
        const refused = await queue.send(messages);
        for (const { batch } of messages) queued.delete(batch);
        return refused;
      },
    };
    return { lost: () => queued };
  }
});
