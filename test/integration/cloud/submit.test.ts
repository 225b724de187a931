import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { keysUnder, objectText, putObject } from '../../support/bucket-objects.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { playedRunFile } from '../../support/played-run.ts';
import { deploySmallStack, type SmallStack } from '../../support/small-stack.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';

const ROWS = ['{"prompt":"a"}', '{"prompt":"b","image":"img:1"}', 'no row', '{"prompt":"c"}'];

describe.skipIf(!hasEmulator())('talaria submit', () => {
  const folder = useCommandFolder();
  let emulator: Emulator;
  let stack: SmallStack;
  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await deploySmallStack(emulator.endpoint, 'talaria');
    await folder.write('prompts.jsonl', `${ROWS.join('\n')}\n`);
  }, 60_000);
  afterAll(() => emulator?.stop());

  const submit = (run: string, ...more: string[]) =>
    folder.talaria(
      ['submit', '--dataset_file=prompts.jsonl', '--batch_size=4', `--run_name=${run}`, ...more],
      { env: emulator.env },
    );
  const text = (key: string) => objectText(stack.bucket, key);

  it('puts the settings given and the dataset as it is, and says how to go on', async () => {
    const end = await submit('first', '--model=rehearsal', '--num-workers', '3', '--toolsets=file');
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stdout).toContain(
      `submitted  s3://${stack.bucket.name}/datasets/first/prompts.jsonl`,
    );
    expect(end.stdout).toContain('talaria download first');
    expect(end.stderr).toContain('3 rows, of 1 image, 2 without one');
    expect(end.stderr).toContain('line 3: expected a JSON object');
    expect(await text('datasets/first/prompts.jsonl')).toBe(`${ROWS.join('\n')}\n`);
    expect(JSON.parse((await text('datasets/first/run.json')) ?? '')).toEqual({
      batch_size: 4,
      model: 'rehearsal',
      num_workers: 3,
      toolsets: ['file'],
    });
    expect(await keysUnder(stack.bucket, 'datasets/first/')).toHaveLength(2);
  });

  it('sends ephemeral prompt and prefill in private.json alone, and distributions by content', async () => {
    await folder.write('prefill.json', '[{"role":"user","content":"few shot"}]');
    await folder.write('own.json', '{"mine":{"toolsets":{"terminal":100}}}');
    const end = await submit(
      'private',
      '--model=rehearsal',
      '--ephemeral_system_prompt=be brief',
      '--prefill_messages_file=prefill.json',
      '--distributions_file=own.json',
      '--distribution=mine',
    );
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse((await text('datasets/private/private.json')) ?? '')).toEqual({
      ephemeral_system_prompt: 'be brief',
      prefill_messages: [{ role: 'user', content: 'few shot' }],
    });
    const runJson = (await text('datasets/private/run.json')) ?? '';
    expect(runJson).not.toMatch(/brief|few shot|prefill|own\.json/);
    expect(JSON.parse(runJson)).toMatchObject({
      distribution: 'mine',
      distributions: { mine: { toolsets: { terminal: 100 } } },
    });
    // A new try without them: those of the first are gone.
    expect(await submit('private', '--model=rehearsal')).toMatchObject({ code: 0 });
    expect(await text('datasets/private/private.json')).toBeUndefined();
  });

  it.each([
    ['--api_key=sk-1', 'talaria secrets set'],
    ['--max_cost_usd=5', 'no limit over all tasks'],
    ['--max_total_tokens=5', 'no limit over all tasks'],
  ])('refuses %s before anything is sent', async (flag, words) => {
    const end = await submit('refused', flag);
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain(`${flag.split('=')[0]} is refused in the cloud`);
    expect(end.stderr).toContain(words);
    expect(end.stderr).not.toContain('sk-1');
    expect(await keysUnder(stack.bucket, 'datasets/refused/')).toEqual([]);
  });

  it('says what is otherwise in the cloud', async () => {
    const end = await submit(
      'notes',
      '--model=rehearsal',
      '--batch_size=50',
      '--resume',
      '--output_dir=elsewhere',
      '--sandbox=process',
    );
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('batch_size 50 is lowered to 8');
    expect(end.stderr).toContain('--resume has no effect in the cloud');
    expect(end.stderr).toContain('--output_dir has no effect in the cloud');
    expect(end.stderr).toContain('every prompt runs in a container');
  });

  it('takes gzip, standard input and other file names, under names that start a pass', async () => {
    const packed = gzipSync(`${ROWS.join('\n')}\n`);
    await folder.write('packed.json', packed);
    const flags = ['submit', '--batch_size=4', '--model=rehearsal', '--json'];
    const gzip = await folder.talaria([...flags, '--run_name=gz', '--dataset_file=packed.json'], {
      env: emulator.env,
    });
    expect(JSON.parse(gzip.stdout)).toEqual({
      run: 'gz',
      bucket: stack.bucket.name,
      dataset: 'datasets/gz/packed.jsonl.gz',
      rows: 3,
      invalid_rows: 1,
      images: 1,
    });
    const piped = await folder.talaria([...flags, '--run_name=piped', '--dataset_file=-'], {
      env: emulator.env,
      stdin: `${ROWS.join('\n')}\n`,
    });
    expect(piped, piped.stderr).toMatchObject({ code: 0 });
    expect(await text('datasets/piped/prompts.jsonl')).toBe(`${ROWS.join('\n')}\n`);
  });

  it('sends a dataset of several parts whole', async () => {
    const line = `${JSON.stringify({ prompt: 'x'.repeat(1_000_000) })}\n`;
    await folder.write('large.jsonl', line.repeat(20));
    const end = await folder.talaria(
      [
        'submit',
        '--dataset_file=large.jsonl',
        '--run_name=large',
        '--batch_size=8',
        '--model=rehearsal',
      ],
      { env: emulator.env },
    );
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect((await text('datasets/large/large.jsonl')) === line.repeat(20)).toBe(true);
  });

  it('sends nothing of a dataset or of settings that are wrong', async () => {
    await folder.write('bad.jsonl', 'nothing here\n');
    const wrong = [
      ['--dataset_file=bad.jsonl', 'bad.jsonl:1: expected a JSON object'],
      ['--dataset_file=none.jsonl', 'expected a dataset file, found none'],
      ['--strict', '1 bad lines, the first is line 3'],
      ['--max_turns=none', '--max_turns: expected a whole number'],
      ['--distribution=nowhere', '--distribution: expected one of'],
      ['--toolsets=nowhere', '--toolsets: expected names of'],
      ['--bogus', "unknown option '--bogus'"],
    ];
    const ends = wrong.map(([flag = '']) => submit('wrong', '--model=rehearsal', flag));
    for (const [index, end] of (await Promise.all(ends)).entries()) {
      expect(end, end.stderr).toMatchObject({ code: 2 });
      expect(end.stderr).toContain(wrong[index]?.[1]);
    }
    expect(await keysUnder(stack.bucket, 'datasets/wrong/')).toEqual([]);
  });

  it('goes on with a run by what it has, and refuses what must stay the same', async () => {
    const { runFile } = playedRunFile('again', ['{"prompt":"a"}\n']);
    const stored = { ...runFile, batch_size: 2, sandbox: 'docker' };
    const manifest = { ...runFile.manifest, sandbox: 'docker' };
    await putObject(
      stack.bucket,
      'runs/again/run.json',
      JSON.stringify(runFileSchema.parse({ ...stored, manifest })),
    );
    const flags = ['submit', '--dataset_file=prompts.jsonl', '--run_name=again'];
    const end = await folder.talaria([...flags, '--max_turns=7'], { env: emulator.env });
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('pass 2: what is done is not bought again');
    expect(JSON.parse((await text('datasets/again/run.json')) ?? '')).toEqual({ max_turns: 7 });
    const other = await folder.talaria([...flags, '--model=other'], { env: emulator.env });
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain("model can't change within a run");
  });

  it('finds its stack by name, its bucket without one, and says where it looked', async () => {
    const none = await submit('lost', '--model=rehearsal', '--stack=staging');
    expect(none).toMatchObject({ code: 2 });
    expect(none.stderr).toContain('there is no stack staging in us-east-1');
    const direct = await submit(
      'direct',
      '--model=rehearsal',
      '--stack=staging',
      `--bucket=${stack.bucket.name}`,
    );
    expect(direct, direct.stderr).toMatchObject({ code: 0 });
    const { AWS_ACCESS_KEY_ID: _id, ...without } = emulator.env;
    const unknown = await folder.talaria(['status', 'x'], {
      env: { ...without, AWS_EC2_METADATA_DISABLED: 'true' },
    });
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain('no AWS credentials');
  });
});
