import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutputPipes } from '../../../src/adapters/sandbox/executor/output-pipes.ts';
import { createProcessGroups } from '../../../src/adapters/sandbox/executor/process-groups.ts';
import { searchFiles } from '../../../src/adapters/sandbox/executor/search-files.ts';
import { createProcessSandboxProvider } from '../../../src/adapters/sandbox/process-sandbox.ts';
import type { SearchRequest } from '../../../src/core/ports/sandbox.ts';
import { COMMAND_PATH } from '../../support/sandbox-provider.ts';
import { RIPGREP, skipsWithoutRipgrep } from './ripgrep-program.ts';
import { describeSearch } from './search-contract.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'talaria-rg-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A PATH of all programs but ripgrep, and of another one under its name. */
async function pathWith(name: string, script?: string): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder);
  const seen = new Set(['rg']);
  for (const from of COMMAND_PATH.split(':')) {
    for (const file of await readdir(from).catch(() => [])) {
      if (seen.has(file)) continue;
      seen.add(file);
      await symlink(join(from, file), join(folder, file));
    }
  }
  if (script !== undefined) {
    await writeFile(
      join(folder, 'rg'),
      script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`,
    );
    await chmod(join(folder, 'rg'), 0o755);
  }
  return folder;
}

/** Every search case on a sandbox whose PATH has this in place of ripgrep. */
function describeWith(name: string, script: () => string | undefined): void {
  describe(`sandbox whose ripgrep is ${name}`, () => {
    let provider: ReturnType<typeof createProcessSandboxProvider>;
    beforeAll(async () => {
      const path = await pathWith(name.replaceAll(' ', '-'), script());
      provider = createProcessSandboxProvider({
        root: join(root, `of ${name}`),
        shell: '/bin/sh',
        path,
      });
    });
    afterAll(() => provider.close());
    describeSearch(() => provider.open({ promptId: 'p', image: '', cwd: '' }));
  });
}

const log = () => join(root, 'calls');
describeWith('not there', () => undefined);
describeWith('broken', () => 'echo ./src/a.txt; exit 2');
describeWith('no program', () => '#!/no/such/interpreter');

/** A search of a folder of its own, by a script in place of ripgrep or by none. */
async function searchBy(script: string | undefined, overrides: Partial<SearchRequest> = {}) {
  const folder = await mkdtemp(join(root, 'by-'));
  const pipes = createOutputPipes({
    folder: join(folder, 'pipes'),
    mkfifo: { file: 'mkfifo', path: COMMAND_PATH },
  });
  const fake = join(folder, 'rg');
  await writeFile(fake, `#!/bin/sh\n${script ?? ''}\n`, { mode: 0o755 });
  const work = join(folder, 'work');
  await mkdir(join(work, 'sub'), { recursive: true });
  await mkdir(join(work, '.hidden'));
  for (const file of ['a', 'sub/b', '.hidden/c', '../outside']) {
    await writeFile(join(work, file), 'needle\n');
  }
  const of = { program: fake, mark: 'test', pipes, groups: createProcessGroups() };
  const result = await searchFiles(
    work,
    { ...request('needle'), ...overrides },
    script === undefined ? undefined : of,
  );
  await pipes.close();
  return result;
}

function request(pattern: string): SearchRequest {
  return {
    pattern,
    target: 'content',
    path: '.',
    context: 0,
    maxMatches: 1_000,
    timeoutMs: 10_000,
  };
}

describe('what calls itself ripgrep', () => {
  it('is killed when it takes too long, and what it found is given', async () => {
    const from = performance.now();
    const slow = `printf './sub/b\\0./tor'; sleep 1031`;
    const { matches, incomplete } = await searchBy(slow, { timeoutMs: 400 });
    expect(performance.now() - from).toBeLessThan(3_000);
    expect(incomplete).toBe('timeout');
    expect(matches.map(({ path }) => path)).toEqual(['sub/b']);
    const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(stdout).not.toMatch(/^sleep 1031$/m);
  });

  it('cannot point outside or at hidden files', async () => {
    const hostile = `printf '/etc/passwd\\0./../outside\\0../outside\\0./.hidden/c\\0./a\\0./no\\0'`;
    const { matches } = await searchBy(hostile);
    expect(matches.map(({ path }) => path)).toEqual(['a']);
  });

  it('is stopped when it floods', async () => {
    const flood = `head -c 40000000 /dev/zero | tr '\\0' x; sleep 1032`;
    const from = performance.now();
    expect((await searchBy(flood)).incomplete).toBe('limit');
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it('is passed by where it fails', async () => {
    const whole = await searchBy(undefined);
    expect(whole.matches.map(({ path }) => path)).toEqual(['a', 'sub/b']);
    expect(await searchBy(`printf './a\\0'; exit 2`)).toEqual(whole);
    expect(await searchBy('kill -9 $$')).toEqual(whole);
    expect(await searchBy('true')).toEqual(whole);
  });
});

describe.skipIf(skipsWithoutRipgrep())('with ripgrep', () => {
  describeWith('real', () => `echo "$@" >> '${log()}'; exec '${RIPGREP}' "$@"`);

  it('was asked', async () => {
    expect(await readFile(log(), 'utf8')).toMatch(/--files-with-matches.*\n[\s\S]*--files /);
  });
});
