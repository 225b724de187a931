import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { text } from '../../support/model-server-replies.ts';
import { digests, expectSound } from '../../support/run-files.ts';
import { makeWorkshop, until, type Workshop } from '../../support/talaria-process.ts';

const REHEARSAL = { model: 'rehearsal' };

let workshop: Workshop;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(['one', 'two', 'three']);
});
afterEach(() => workshop.dispose());

describe('a run that another process works on', () => {
  let open: () => void;
  let provider: ModelServer;
  beforeEach(async () => {
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    provider = await startModelServer({
      reply: async () => {
        await gate;
        return text('Done.');
      },
    });
  });
  afterEach(() => provider.close());

  it('is refused, and goes on unharmed', async () => {
    const flags = { model: 'm', base_url: provider.baseUrl };
    const first = workshop.start(flags);
    await until(() => provider.requests.length >= 3);

    const resumed = await workshop.run({ ...flags, resume: true });
    expect(resumed).toMatchObject({ code: 2, stdout: '' });
    expect(resumed.stderr).toBe(
      `talaria: process ${first.pid} is working on this run; wait for it or end it\n`,
    );
    const merged = await workshop.run({}, { command: 'merge' });
    expect(merged).toMatchObject({ code: 2, stderr: resumed.stderr });
    const again = await workshop.run(flags);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('the run r is there already');

    open();
    expect(await first.ended).toMatchObject({ code: 0, signal: null });
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(3);
    expect(provider.requests).toHaveLength(3);
  });

  it('can be taken over when that process was killed', async () => {
    const flags = { model: 'm', base_url: provider.baseUrl };
    const first = workshop.start(flags);
    await until(() => provider.requests.length >= 3);
    first.kill('SIGKILL');
    await first.ended;

    open();
    expect(await workshop.run({ ...flags, resume: true })).toMatchObject({ code: 0 });
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(3);
  });
});

describe('a lock that is left', () => {
  async function lockLeftBy(holder: object) {
    expect(await workshop.run(REHEARSAL)).toMatchObject({ code: 0 });
    writeFileSync(join(workshop.folder(), '.lock'), JSON.stringify(holder));
  }

  it('is taken over where its process is another one by now', async () => {
    await lockLeftBy({ pid: process.pid, started: '1', host: hostname() });
    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    expectSound(workshop.folder());
  });

  it('is not where the process runs on another machine', async () => {
    await lockLeftBy({ pid: process.pid, started: '1', host: 'elsewhere' });
    const before = digests(workshop.folder());
    const end = await workshop.run({ resume: true });
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain(
      `process ${process.pid} on elsewhere has this run; if it has ended`,
    );
    expect(digests(workshop.folder())).toEqual(before);
  });
});

describe('a new run', () => {
  it('is begun by exactly one of processes that start at the same moment', async () => {
    const ends = await Promise.all([1, 2, 3].map(() => workshop.run(REHEARSAL)));
    expect(ends.map((end) => end.code).sort()).toEqual([0, 2, 2]);
    for (const { code, stderr } of ends) {
      if (code === 2) expect(stderr).toMatch(/is working on this run|is there already|meanwhile/);
    }
    const { runFile, trajectories } = expectSound(workshop.folder());
    expect(runFile.passes).toHaveLength(1);
    expect(trajectories).toHaveLength(3);
  });

  it('is not begun where another process began and ended it while the dataset was read', async () => {
    const fifo = join(workshop.path, 'slow.jsonl');
    execFileSync('/usr/bin/env', ['mkfifo', fifo]);
    const slow = workshop.start({ ...REHEARSAL, dataset_file: 'slow.jsonl' });
    // It has looked for the run by the time that it reads its dataset.
    const staging = join(workshop.path, 'data', `.r.staging-${slow.pid}`);
    await until(() => existsSync(staging));
    expect(await workshop.run(REHEARSAL)).toMatchObject({ code: 0 });
    const before = digests(workshop.folder());
    // Waits for the reader.
    writeFileSync(fifo, '{"prompt": "late"}\n');

    const end = await slow.ended;
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('another process has begun the run r meanwhile');
    expect(digests(workshop.folder())).toEqual(before);
    expectSound(workshop.folder());
  });

  it('is refused under a name that has results, saying how to go on', async () => {
    expect(await workshop.run(REHEARSAL)).toMatchObject({ code: 0 });
    const before = digests(workshop.folder());
    const end = await workshop.run(REHEARSAL);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(/--resume goes on with it .*, another --run_name begins a new one/);
    expect(digests(workshop.folder())).toEqual(before);
  });
});
