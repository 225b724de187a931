import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { refusal, type ScriptedReply, text } from '../../support/model-server-replies.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const TRACE = /\n\s+at .*[:)]/;
/** What would clear the screen, turn text round and end a line early. */
const HOSTILE = 'no\u001b[2J\u202eyes\r\u0007 sir';
const STEERING = /(?!\n)[\p{Cc}\u202a-\u202e]/u;

beforeEach(() => folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n'));

describe('no stack trace, and the exit code of the kind, where', () => {
  const CASES: [string, number, string[], RegExp][] = [
    [
      'the output folder is a file',
      2,
      ['--output_dir=prompts.jsonl'],
      /--output_dir: expected a folder/,
    ],
    ['the output folder is in one', 2, ['--output_dir=prompts.jsonl/x'], /--output_dir: expected/],
    [
      'the output folder can be made by nobody',
      2,
      ['--output_dir=/proc/x'],
      /--output_dir: expected/,
    ],
    ['the dataset is missing', 2, ['--dataset_file=nowhere'], /found none/],
    ['the base URL is none', 2, ['--base_url=ftp://x'], /--base_url: expected an http/],
    ['the gzip is none', 2, ['--dataset_file=broken.jsonl.gz'], /broken.jsonl.gz/],
    ['a distributions file is no JSON', 2, ['--distributions_file=prompts.jsonl'], /as JSON/],
    [
      'run.json is broken',
      1,
      ['--run_name=broken', '--resume'],
      /run.json is not what Talaria wrote/,
    ],
    ['run.json is a folder', 1, ['--run_name=folder'], /run.json|EISDIR/],
  ];
  it.each(CASES)('%s', async (_what, code, words, message) => {
    await folder.write('broken.jsonl.gz', Buffer.from('1f8b080000000000', 'hex'));
    await mkdir(folder.at('data', 'broken'), { recursive: true });
    await writeFile(folder.at('data', 'broken', 'run.json'), '{"seed": "x"}');
    await mkdir(folder.at('data', 'folder', 'run.json'), { recursive: true });
    const end = await folder.talaria(rehearsal('fails', ...words));
    expect(end.stderr).toMatch(message);
    expect(end).toMatchObject({ code, stdout: '' });
    expect(`\n${end.stderr}`).not.toMatch(TRACE);
    expect((await folder.talaria(rehearsal('fails', ...words, '--verbose'))).stderr).toMatch(TRACE);
  });
});

describe('what others wrote', () => {
  let server: ModelServer;
  let reply: () => ScriptedReply;
  beforeEach(async () => {
    server = await startModelServer({ reply: () => reply() });
  });
  afterEach(() => server.close());

  const run = (name: string, ...words: string[]) =>
    folder.talaria([
      ...['run', '--dataset_file=prompts.jsonl', '--batch_size=1', `--run_name=${name}`],
      ...[`--base_url=${server.baseUrl}`, '--model=m', '--max_attempts=1', ...words],
    ]);

  it('as a provider’s refusal is shown, but can’t steer the terminal', async () => {
    reply = () => refusal(401, HOSTILE);
    const end = await run('refused');
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('stopped, the provider refused: ');
    expect(end.stderr).toContain('sir');
    expect(end.stderr + end.stdout).not.toMatch(STEERING);
  });

  it('as a model’s answer is shown in verbose logs, but can’t steer the terminal', async () => {
    reply = () => text(HOSTILE, HOSTILE);
    const end = await run('answers', '--verbose');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toMatch(/\[prompt 0\] says: no \[2J yes {1,2}sir/);
    expect(end.stderr + end.stdout).not.toMatch(STEERING);
  });

  it('in a dataset is shown, but can’t steer the terminal', async () => {
    reply = () => text('ok');
    await folder.write('prompts.jsonl', `${JSON.stringify({ prompt: 'p', image: HOSTILE })}\n`);
    const image = await run('image');
    expect(image.code).toBe(2);
    expect(image.stderr).not.toMatch(STEERING);
    await folder.write('prompts.jsonl', `{"prompt":"p"}\n{${HOSTILE}\n`);
    const bad = await run('bad-line');
    expect(bad.code, bad.stderr).toBe(0);
    expect(bad.stderr).not.toMatch(STEERING);
  });

  it('is cut to log_prefix_chars in verbose logs', async () => {
    reply = () => text('x'.repeat(500), 'y'.repeat(500));
    const { stderr } = await run('cut', '--verbose', '--log_prefix_chars=7');
    expect(stderr).toContain('] says: xxxxxxx…\n');
    expect(stderr).toContain('] thinks: yyyyyyy…\n');
  });

  it('that leaves no row is not offered to be loaded', async () => {
    reply = () => text('no thinking here', '');
    const end = await run('nothing-kept');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).not.toContain('load_dataset');
    expect(end.stdout).toContain('no trajectory was kept');
    expect(end.stdout).toContain('discarded/no_reasoning');
  });

  it('as failures ends with code 1 and says how to go on', async () => {
    reply = () => refusal(400, 'what a prompt');
    const end = await run('failing');
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('2 prompts failed, see failed.jsonl; --resume tries them again');
  });
});
