import { existsSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();

/** Nothing of a run may be left, not even what was staged. */
function expectNoTrace(): void {
  const left = existsSync(folder.at('data')) ? readdirSync(folder.at('data')) : [];
  expect(left.filter((name) => name.includes('none'))).toEqual([]);
}

function promptsOf(runName: string): (string | undefined)[] {
  return readRun(folder.at('data', runName))
    .trajectories.sort((a, b) => a.prompt_index - b.prompt_index)
    .map((row) => row.conversations[0]?.value);
}

const TAKEN: [string, string, string | Uint8Array][] = [
  ['bom', 'a byte order mark', '\ufeff{"prompt":"a"}\n{"prompt":"b"}\n'],
  ['crlf', 'CRLF line ends', '{"prompt":"a"}\r\n{"prompt":"b"}\r\n'],
  ['blank', 'blank lines', '\n{"prompt":"a"}\n  \n\n{"prompt":"b"}\n\n'],
  ['last', 'no last newline', '{"prompt":"a"}\n{"prompt":"b"}'],
];

describe('a dataset with', () => {
  it.each(TAKEN)('%s: %s is read', async (name, _what, content) => {
    await folder.write('prompts.jsonl', content);
    const end = await folder.talaria(rehearsal(name));
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain(': 2 rows');
    expect(end.stderr).not.toContain('skipped');
    expect(promptsOf(name)).toEqual(['a', 'b']);
  });

  it('bad lines is run without them, and they are counted and named', async () => {
    const lines = ['{"prompt":"a"}', '{"text":"x"}', '[1]', '"p"', '{oops', '{"prompt":"b"}'];
    await folder.write('prompts.jsonl', `${lines.join('\n')}\n`);
    const end = await folder.talaria(rehearsal('bad'));
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('4 bad lines are skipped:');
    expect(end.stderr).toContain('line 2: expected "prompt" to be a non-empty string, got nothing');
    expect(end.stderr).toContain('line 3: expected a JSON object, got an array');
    expect(end.stderr).toContain('and 1 more');
    expect(promptsOf('bad')).toEqual(['a', 'b']);
    const strict = await folder.talaria(rehearsal('none', '--strict'));
    expect(strict.code).toBe(2);
    expect(strict.stderr).toContain('--strict: the dataset has 4 bad lines, the first is line 2:');
    expectNoTrace();
  });

  const REFUSED: [string, string, RegExp][] = [
    ['no byte', '', /prompts.jsonl: expected rows of JSON, got no line/],
    ['blank lines only', '\n \n', /prompts.jsonl: expected rows of JSON/],
    ['nothing valid', '{"prompt":""}\n[]\n', /prompts.jsonl:1: .*got 2 bad lines/],
    ['an absolute cwd', '{"prompt":"a","cwd":"/etc"}\n', /cwd: expected a folder relative/],
    ['a cwd that goes up', '{"prompt":"a","cwd":"a/../../b"}\n', /cwd: expected a folder without/],
  ];
  it.each(REFUSED)('%s is refused and leaves nothing', async (_what, content, message) => {
    await folder.write('prompts.jsonl', content);
    const end = await folder.talaria(rehearsal('none'));
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(message);
    expect(end.stderr).not.toMatch(/\n\s+at /);
    expectNoTrace();
  });

  it('nothing valid leaves no output folder that was not there before', async () => {
    await folder.write('prompts.jsonl', '');
    const end = await folder.talaria(rehearsal('none', '--output_dir=deep/er/out'));
    expect(end.code).toBe(2);
    expect(existsSync(folder.at('deep'))).toBe(false);
  });
});

describe('--dataset_file', () => {
  const rows = '{"prompt":"a","topic":"t"}\n{"prompt":"b"}\n';

  it('takes standard input', async () => {
    const words = ['--dataset_file=-', '--batch_size=2', '--run_name=stdin', '--model=rehearsal'];
    const end = await folder.talaria(['run', ...words], { stdin: rows });
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('standard input: 2 rows');
    expect(promptsOf('stdin')).toEqual(['a', 'b']);
    const again = await folder.talaria(['run', '--run_name=stdin', '--resume']);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('nothing: all 2 prompts are done');
  });

  it('takes gzip', async () => {
    await folder.write('p.jsonl.gz', gzipSync(rows));
    const end = await folder.talaria(rehearsal('gz', '--dataset_file=p.jsonl.gz'));
    expect(end.code, end.stderr).toBe(0);
    expect(readRun(folder.at('data', 'gz')).trajectories[0]?.metadata.source).toBe('{"topic":"t"}');
  });

  it.each([
    ['nowhere.jsonl', 'nowhere.jsonl: expected a dataset file, found none'],
    ['.', 'expected a dataset file, got a folder'],
  ])('refuses %s', async (path, message) => {
    const end = await folder.talaria(rehearsal('none', `--dataset_file=${path}`));
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(message);
    expectNoTrace();
  });
});
