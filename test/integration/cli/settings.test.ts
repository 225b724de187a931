import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunFile } from '../../../src/core/run/manifest.ts';
import { readJson } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const prompts = () => folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n');
const runFile = (name: string) => readJson<RunFile>(folder.at('data', name, 'run.json'));

describe('flags', () => {
  it('take each form in one real call', async () => {
    await prompts();
    const words = [
      'run',
      ...['--dataset_file', 'prompts.jsonl', '--batch-size=2', '--run-name', 'forms'],
      ...['--model=rehearsal', '--max-turns', '3', '--num_workers=2', '--timeout', '60'],
    ];
    const end = await folder.talaria(words);
    expect(end.code, end.stderr).toBe(0);
    expect(runFile('forms')).toMatchObject({
      batch_size: 2,
      max_turns: 3,
      num_workers: 2,
      timeout: 60,
    });
  });

  it('are all named when several are wrong, and nothing is written', async () => {
    const end = await folder.talaria(
      rehearsal('wrong', '--batch_size=0', '--seed=x', '--timeout=-1'),
    );
    expect(end.code).toBe(2);
    expect(end.stderr).toBe(
      [
        'talaria: 3 settings are wrong:',
        '  --batch_size: expected a whole number (1 to 1000000), got 0',
        '  --timeout: expected a number (more than 0 to 604800), got -1',
        '  --seed: expected a whole number of at least 0, got "x"',
        '',
      ].join('\n'),
    );
    expect(existsSync(folder.at('data', 'wrong'))).toBe(false);
  });

  it.each([
    [['run', '--modle=x'], "unknown option '--modle=x'\n(Did you mean --model?)\nSee talaria run"],
    [['rnu'], "unknown command 'rnu'\n(Did you mean run?)\nSee talaria --help"],
    [['list-distribution'], '(Did you mean list-distributions?)'],
    [['merge', '--run-nam=x'], 'See talaria merge --help.'],
    [['run', '--dataset_file'], "option '--dataset_file <path>' argument missing"],
    [['run', 'prompts.jsonl'], 'too many arguments'],
    [['merge'], '--run_name is required'],
    [['merge', '--run_name=../x'], '--run_name: expected a letter or digit'],
    [['merge', '--run_name=nope'], 'there is no run nope in data'],
  ])('%j is wrong use', async (words, message) => {
    const end = await folder.talaria(words);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(message);
    expect(end.stderr).not.toMatch(/\n\s+at /);
    expect(end.stdout).toBe('');
  });
});

describe('--config', () => {
  it('gives settings, and a flag wins', async () => {
    await prompts();
    const settings = {
      dataset_file: 'prompts.jsonl',
      batch_size: 1,
      run_name: 'from-file',
      model: 'rehearsal',
      max_turns: 5,
      toolsets: ['terminal'],
    };
    await folder.write('settings.json', JSON.stringify(settings));
    const end = await folder.talaria(['run', '--config=settings.json', '--max_turns=4']);
    expect(end.code, end.stderr).toBe(0);
    expect(runFile('from-file')).toMatchObject({ ...settings, max_turns: 4 });
  });

  it('takes the run.json of another run', async () => {
    await prompts();
    const first = await folder.talaria(rehearsal('origin', '--seed=7', '--max_turns=6'));
    expect(first.code, first.stderr).toBe(0);
    const end = await folder.talaria(['run', '--config=data/origin/run.json', '--run_name=copy']);
    expect(end.code, end.stderr).toBe(0);
    const { manifest: _m, passes: _p, run_name: _n, ...settings } = runFile('origin');
    const { manifest, passes, ...copy } = runFile('copy');
    expect(copy).toEqual({ ...settings, run_name: 'copy' });
    expect(passes).toHaveLength(1);
    expect(manifest.rehearsal).toBe(true);
  });

  it.each([
    ['{"batch_sise": 1}', 'batch_sise in wrong.json: there is no such setting'],
    ['{"batch_size": "2"}', 'batch_size in wrong.json: expected a whole number'],
    ['{"api_key": "sk-very-secret"}', 'api_key in wrong.json: this is a flag only'],
    ['{"resume": true}', 'resume in wrong.json: this is a flag only'],
    ['{"verbose": true}', 'verbose in wrong.json: this is a flag only'],
    ['{"json": true}', 'json in wrong.json: this is a flag only'],
    ['[1]', '--config: wrong.json: expected a JSON object'],
    ['{', '--config: wrong.json is not JSON'],
  ])('refuses %s', async (content, message) => {
    await folder.write('wrong.json', content);
    const end = await folder.talaria(['run', '--run_name=refused', '--config=wrong.json']);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(message);
    expect(end.stderr).not.toContain('very-secret');
    expect(existsSync(folder.at('data', 'refused'))).toBe(false);
  });

  it('says which file is missing', async () => {
    const end = await folder.talaria(['run', '--config=nowhere.json']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain("--config: can't read nowhere.json");
  });
});

describe('a run that is there', () => {
  it('is not begun again, and the message says how to go on', async () => {
    await prompts();
    await folder.talaria(rehearsal('again'));
    const before = readFileSync(folder.at('data', 'again', 'run.json'), 'utf8');
    const end = await folder.talaria(rehearsal('again'));
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('--resume goes on with it');
    expect(readFileSync(folder.at('data', 'again', 'run.json'), 'utf8')).toBe(before);
  });
});
