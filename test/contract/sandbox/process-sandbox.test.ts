import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeProcessProvider } from '../../support/sandbox-provider.ts';
import { runIn } from '../../support/sandbox-run.ts';
import { describeSandbox } from './sandbox-contract.ts';

describeSandbox('process, first shell found', () => makeProcessProvider());
describeSandbox('process, /bin/sh', () => makeProcessProvider('/bin/sh'));

describe('process sandbox', () => {
  const disposers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const dispose of disposers.splice(0)) await dispose();
  });
  async function make() {
    const made = await makeProcessProvider();
    disposers.push(made.dispose);
    return made;
  }
  const spec = { promptId: 'p', image: '', cwd: '' };

  it.each(['/etc', '..', 'a/../../b', 'a\0b'])('refuses to start in %j', async (cwd) => {
    const { provider, root } = await make();
    await expect(provider.open({ ...spec, cwd })).rejects.toThrow(/^cwd: expected/);
    expect(readdirSync(root)).toEqual([]);
  });

  it.each(['/etc/passwd', '../state/state', 'link/passwd', 'link', 'up/state'])(
    'keeps file operations inside: %s',
    async (path) => {
      const { provider } = await make();
      const sandbox = await provider.open(spec);
      await runIn(sandbox, 'ln -s /etc link; ln -s .. up');
      const outside = {
        code: 'outside',
        message: expect.stringContaining('inside the work folder'),
      };
      await expect(sandbox.readFile(path, 10)).rejects.toMatchObject(outside);
      await expect(sandbox.writeFile(path, new Uint8Array())).rejects.toMatchObject(outside);
      await expect(sandbox.search({ ...searchFor('root'), path })).rejects.toMatchObject(outside);
    },
  );

  it.each(['/etc/passwd', '../state/state', 'link/passwd', 'up/state'])(
    'neither deletes nor moves outside: %s',
    async (path) => {
      const { provider } = await make();
      const sandbox = await provider.open(spec);
      await runIn(sandbox, 'ln -s /etc link; ln -s .. up; echo x > mine');
      const outside = { code: 'outside' };
      await expect(sandbox.deleteFile(path)).rejects.toMatchObject(outside);
      await expect(sandbox.moveFile(path, 'taken')).rejects.toMatchObject(outside);
      await expect(sandbox.moveFile('mine', path)).rejects.toMatchObject(outside);
      expect((await runIn(sandbox, 'ls')).text).toBe('link\nmine\nup\n');
    },
  );

  it('removes the folder at close, closed folders in it too', async () => {
    const { provider, root } = await make();
    const sandbox = await provider.open(spec);
    await runIn(sandbox, 'mkdir -p a/b; touch a/b/c; chmod 500 a/b a');
    await sandbox.close();
    expect(readdirSync(root).filter((name) => !name.includes('pipes'))).toEqual([]);
  });

  it('goes on in a new folder when a command removed its own', async () => {
    const { provider } = await make();
    const sandbox = await provider.open(spec);
    await runIn(sandbox, 'rm -rf "$(dirname "$HOME")"');
    const { text } = await runIn(sandbox, 'echo hi > x; cat x');
    expect(text).toMatch(/working directory .* is gone[\s\S]*\nhi\n$/);
    expect((await sandbox.readFile('x', 10)).size).toBe(3);
  });

  it('is lost, not answered, when the shell cannot be started', async () => {
    const made = await makeProcessProvider('/no/such/shell');
    disposers.push(made.dispose);
    const sandbox = await made.provider.open(spec);
    await expect(runIn(sandbox, 'echo hi')).rejects.toThrow(/could not start a shell/);
  });

  it('ends strays of closed sandboxes only', async () => {
    const { provider } = await make();
    const closed = await provider.open(spec);
    const live = await provider.open(spec);
    await runIn(closed, 'setsid sleep 1011 > /dev/null & sleep 0.2');
    await runIn(live, 'setsid sleep 1012 > /dev/null & sleep 0.2');
    await closed.close();
    expect(await provider.killStrays()).toBe(1);
    const { text } = await runIn(live, 'sleep 0.1; ps -eo args | grep "^sleep 101[12]$"');
    expect(text).toBe('sleep 1012\n');
    await provider.close();
  });

  it('sweeps folders and processes of dead runners, nothing else', async () => {
    const { provider, root } = await make();
    const sandbox = await provider.open(spec);
    const mine = readdirSync(root);
    const namespace = mine[0]?.split('.')[0];
    const dead = join(root, `${namespace}.${process.pid}.1-dead`);
    const foreign = join(root, `1.${process.pid}.1-foreign`);
    await mkdir(join(dead, 'work'), { recursive: true });
    await mkdir(foreign);
    await writeFile(join(root, 'notes.txt'), '');
    const mark = `TALARIA_SANDBOX=${namespace}.${process.pid}.1-dead`;
    await runIn(sandbox, `${mark} setsid sleep 1013 > /dev/null & sleep 0.2`);
    expect(await provider.sweep()).toEqual({ folders: 1, processes: 1, stuck: [] });
    expect([existsSync(dead), existsSync(foreign)]).toEqual([false, true]);
    expect(readdirSync(root)).toEqual(expect.arrayContaining([...mine, 'notes.txt']));
    expect((await runIn(sandbox, 'echo alive')).text).toBe('alive\n');
  });

  it('leaves nothing behind at close', async () => {
    const { provider, root } = await make();
    await runIn(await provider.open(spec), 'setsid sleep 1014 > /dev/null & sleep 0.1');
    await provider.close();
    expect(readdirSync(root)).toEqual([]);
  });
});

function searchFor(pattern: string) {
  return { pattern, target: 'content' as const, context: 0, maxMatches: 1, timeoutMs: 1_000 };
}
