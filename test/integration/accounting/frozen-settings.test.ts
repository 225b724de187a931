import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digests, expectSound } from '../../support/run-files.ts';
import { type Flags, makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, type Provider, startProvider } from './playing-provider.ts';

let workshop: Workshop;
let provider: Provider;
let flags: Flags;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(['a', 'b', 'c']);
  provider = await startProvider(() => ANSWER);
  prefill('prefill.json', 'Hello.');
  flags = {
    ...provider.flags,
    ephemeral_system_prompt: 'Be brief.',
    prefill_messages_file: 'prefill.json',
    max_samples: 1,
  };
  expect(await workshop.run(flags)).toMatchObject({ code: 0 });
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

function prefill(name: string, content: string) {
  writeFileSync(join(workshop.path, name), JSON.stringify([{ role: 'user', content }]));
}

describe('what makes a run the same run', () => {
  it.each([
    ['model', { model: 'other/model' }],
    ['seed', { seed: 7 }],
    ['distribution', { distribution: 'terminal_only' }],
    ['toolsets', { toolsets: 'file' }],
    ['ephemeral_system_prompt', { ephemeral_system_prompt: 'Be long.' }],
    ['prefill_messages_file', { prefill_messages_file: 'other.json' }],
    ['model', { model: 'rehearsal' }],
    ['distribution', { distributions_file: 'other-default.json' }],
  ])('can not change with a resume: %s %j', async (key, change) => {
    prefill('other.json', 'Good day.');
    const other = { default: { toolsets: { terminal: 1 } } };
    writeFileSync(join(workshop.path, 'other-default.json'), JSON.stringify(other));
    const before = digests(workshop.folder());
    const end = await workshop.run({ resume: true, max_samples: 3, ...change });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(
      new RegExp(`^talaria: ${key} can't change within a run: the run has `),
    );
    expect(digests(workshop.folder())).toEqual(before);
    expect(provider.requests).toHaveLength(1);
  });

  it('is no matter of how much, how many and how far', async () => {
    const change = { num_workers: 1, batch_size: 1, max_samples: 3, max_turns: 3, timeout: 60 };
    const end = await workshop.run({ resume: true, max_total_tokens: 1e6, ...change });
    expect(end.code).toBe(0);
    expect(expectSound(workshop.folder()).runFile).toMatchObject(change);
  });
});

describe('a resume by name alone', () => {
  it('takes all other settings from the run', async () => {
    const end = await workshop.run({ dataset_file: false, batch_size: false, resume: true });
    expect(end).toMatchObject({ code: 0 });
    const { runFile } = expectSound(workshop.folder());
    expect(runFile).toMatchObject({ ...provider.flags, batch_size: 2, max_samples: 1 });
    expect(runFile.passes).toHaveLength(2);
  });

  it('sends the same ephemeral prompt and prefill, though their sources are gone', async () => {
    await rm(join(workshop.path, 'prefill.json'));
    const end = await workshop.run({ resume: true, max_samples: 3 });
    expect(end).toMatchObject({ code: 0 });
    expect(provider.requests).toHaveLength(3);
    const hidden = provider.requests.map(({ body }) => body.messages.slice(0, 2));
    expect(hidden[2]).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello.' },
    ]);
    expect(hidden[1]).toEqual(hidden[0]);
    expect(hidden[2]).toEqual(hidden[0]);
  });

  it('draws by the same distribution, though its file is gone', async () => {
    const own = { own: { toolsets: { terminal: 100, file: 50 } } };
    writeFileSync(join(workshop.path, 'own.json'), JSON.stringify(own));
    const choice = { run_name: 's', distribution: 'own', distributions_file: 'own.json' };
    expect(await workshop.run({ ...flags, ...choice })).toMatchObject({ code: 0 });
    await rm(join(workshop.path, 'own.json'));
    const end = await workshop.run({ run_name: 's', resume: true, max_samples: 3 });
    expect(end).toMatchObject({ code: 0 });
    expect(expectSound(workshop.folder('s')).statistics.distribution).toBe('own');
  });

  it('does not mind a source that another run has changed since', async () => {
    prefill('prefill.json', 'Changed.');
    expect(await workshop.run({ resume: true, max_samples: 3 })).toMatchObject({ code: 0 });
    expect(provider.requests[2]?.text).toContain('Hello.');
    expect(provider.requests[2]?.text).not.toContain('Changed.');
  });
});
