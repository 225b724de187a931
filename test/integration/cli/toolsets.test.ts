import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HERMES_DISTRIBUTIONS } from '../../support/hermes-distributions.ts';
import { readRun } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const prompts = () => folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n');

const HERMES = HERMES_DISTRIBUTIONS.split('\n');

describe('list-distributions', () => {
  it('shows the 17 with their percentages, however it is asked', async () => {
    const { stdout, code } = await folder.talaria(['list-distributions']);
    expect(code).toBe(0);
    const shown = stdout
      .trim()
      .split('\n\n')
      .map((block) => {
        const lines = block.split('\n').map((line) => line.trim());
        return `${lines[0]}: ${lines[2]?.replaceAll(' %', '')}`;
      });
    expect(shown).toEqual(HERMES);
    for (const words of [
      ['list_distributions'],
      ['run', '--list_distributions'],
      ['run', '--list-distributions'],
    ]) {
      expect((await folder.talaria(words)).stdout, words.join(' ')).toBe(stdout);
    }
  });

  it('gives them as JSON, from run too, with those of a file first', async () => {
    await folder.write('own.json', '{"mine":{"toolsets":{"terminal":100,"file":50}}}');
    const words = ['--json', '--distributions_file=own.json'];
    const { stdout } = await folder.talaria(['list-distributions', ...words]);
    const list = JSON.parse(stdout);
    expect(list).toHaveLength(18);
    expect(list[0]).toEqual({
      name: 'mine',
      description: '',
      toolsets: { terminal: 100, file: 50 },
    });
    expect((await folder.talaria(['run', '--list_distributions', ...words])).stdout).toBe(stdout);
  });
});

describe('a choice of toolsets', () => {
  it('may be a distribution of one’s own', async () => {
    await prompts();
    await folder.write('own.json', '{"mine":{"toolsets":{"terminal":100}}}');
    const words = ['--distributions_file=own.json', '--distribution=mine'];
    const end = await folder.talaria(rehearsal('own', ...words));
    expect(end.code, end.stderr).toBe(0);
    const { trajectories, statistics } = readRun(folder.at('data', 'own'));
    expect(trajectories.map((row) => row.toolsets_used)).toEqual([['terminal'], ['terminal']]);
    expect(statistics.distribution).toBe('mine');
  });

  it.each([
    ['--distribution=minimal', /distribution "minimal".*\(web\), got none/],
    ['--distribution=browser_only', /\(browser\)/],
    ['--distribution=minimall', /expected one of default, image_gen.*got "minimall"/],
    ['--toolsets=terminal,teminal', /expected names of terminal, file.*got teminal/],
    ['--toolsets=web', /web/],
    ['--toolsets=terminal,web', /do not work here: web \(not built yet\)/],
    ['--toolsets=', /--toolsets: expected a comma list of names, got \[\]/],
    ['--distributions_file=nowhere.json', /can't read nowhere.json/],
    ['--distributions_file=bad-percent.json', /bad-percent.json: mine.*percentage from 0 to 100/],
    ['--distributions_file=bad-toolset.json', /bad-toolset.json: mine.*expected one of terminal/],
  ])('is refused: %s', async (flag, message) => {
    await prompts();
    await folder.write('bad-percent.json', '{"mine":{"toolsets":{"terminal":101}}}');
    await folder.write('bad-toolset.json', '{"mine":{"toolsets":{"shell":10}}}');
    const end = await folder.talaria(rehearsal('refused', flag));
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(message);
    expect(existsSync(folder.at('data'))).toBe(existsSync(folder.at('data', 'own')));
    expect(existsSync(folder.at('data', 'refused'))).toBe(false);
  });

  it('says once what is left out of the draw', async () => {
    await prompts();
    const { stderr } = await folder.talaria(rehearsal('left-out'));
    expect(
      stderr.match(/left out, not built yet: web, vision, image_gen, moa, browser/g),
    ).toHaveLength(1);
  });
});
