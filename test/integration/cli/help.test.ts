import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUN_CONFIG_KEYS } from '../../../src/core/run/run-config.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();

describe('help', () => {
  it('is what talaria alone shows, with the first command to try', async () => {
    const alone = await folder.talaria([]);
    expect(alone).toEqual(await folder.talaria(['--help']));
    expect(alone).toMatchObject({ code: 0, stderr: '' });
    expect(alone.stdout).toContain('--model=rehearsal');
    for (const command of ['run', 'merge', 'list-distributions', 'sandbox', 'submit']) {
      expect(alone.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    }
  });

  it('of run names every setting, and no line wraps at 80 columns', async () => {
    const { stdout, code } = await folder.talaria(['run', '--help']);
    expect(code).toBe(0);
    for (const key of RUN_CONFIG_KEYS) expect(stdout).toContain(`--${key}`);
    expect(stdout).toContain('Exit codes: 0');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(['merge', 'list-distributions'])('of %s teaches with an example', async (command) => {
    const { stdout, code } = await folder.talaria([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/talaria merge --run_name=mine|\{"mine": /);
  });

  it.each([
    ['submit', 'talaria submit --dataset_file='],
    ['status', 'talaria status mine --follow'],
    ['download', 'talaria download mine'],
    ['secrets', 'talaria secrets set openrouter.ai'],
  ])('of %s teaches with an example, and no line wraps', async (command, example) => {
    const { stdout, code } = await folder.talaria([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(example);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('has a version that is the package’s', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await folder.talaria(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});
