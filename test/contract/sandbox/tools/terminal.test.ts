import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { makeProcessProvider } from '../../../support/sandbox-provider.ts';
import { toolCaller, useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('terminal', () => {
  const { call, callWith } = useToolSandbox();

  it('gives output and exit code, and counts a failing command as a success of the tool', async () => {
    const result = await call('terminal', { command: 'echo out; echo err >&2; exit 3' });
    expect(result).toEqual({ output: 'out\nerr\n', exit_code: 3, error: null });
    expect(toolSucceeded(JSON.stringify(result))).toBe(true);
  });

  it('says so when it timed out', async () => {
    const result = await call('terminal', { command: 'echo begun; sleep 9', timeout: 1 });
    expect(result).toEqual({
      output: 'begun\n',
      exit_code: 124,
      error: expect.stringContaining('timed out after 1 s'),
    });
  });

  it('takes no longer than the prompt has', async () => {
    const hurried = callWith({ remainingMs: () => 300 });
    const result = await hurried('terminal', { command: 'sleep 9', timeout: 60 });
    expect(result).toMatchObject({ exit_code: 124 });
  });

  it('ends with the prompt', async () => {
    const ended = callWith({ signal: AbortSignal.timeout(200) });
    const result = await ended('terminal', { command: 'sleep 9' });
    expect(result).toMatchObject({ exit_code: 130, error: expect.stringContaining('time') });
  });

  it('shows binary output safely', async () => {
    const command = `printf 'a\\000\\377\\033[31mred\\033[0m\\n'`;
    expect(await call('terminal', { command })).toMatchObject({ output: 'a\\x00\\xffred\n' });
  });

  it('cuts long output in the middle', async () => {
    const { output } = await call('terminal', { command: 'seq 1 1000000' });
    expect(String(output)).toMatch(
      /^1\n2\n[\s\S]*about 68\d{5} bytes of output cut[\s\S]*\n1000000\n$/,
    );
    expect(String(output).length).toBeLessThan(50_200);
  });

  it('gives a terminal, and shows what is written to it as text', async () => {
    const command = 'test -t 1 && printf "\\033[31mred\\033[0m\\n"; false';
    expect(await call('terminal', { command, pty: true })).toEqual({
      output: 'red\n',
      exit_code: 1,
      error: null,
    });
    const started = await call('terminal', {
      command: 'read -r -p "name? " x; echo "hi $x"',
      pty: true,
      background: true,
    });
    const of = { session_id: started['session_id'] };
    await call('process', { action: 'submit', data: 'Ada', ...of });
    expect(await call('process', { action: 'wait', ...of })).toMatchObject({
      output: 'name? Ada\nhi Ada\n',
      exit_code: 0,
    });
  });

  it.each([false, true])(
    'says so where it can give none, in the background: %s',
    async (background) => {
      const path = await mkdtemp(join(tmpdir(), 'talaria-path-'));
      await symlink('/usr/bin/mkfifo', join(path, 'mkfifo'));
      // As another system's: it takes other arguments.
      await writeFile(join(path, 'script'), '#!/bin/sh\ntouch was-run\n', { mode: 0o755 });
      const { provider, dispose } = await makeProcessProvider('/bin/sh', path);
      try {
        const sandbox = await provider.open({ promptId: 'p', image: '', cwd: '' });
        const without = toolCaller(sandbox);
        const result = await without('terminal', {
          command: 'echo > was-run',
          pty: true,
          background,
        });
        expect(result).toEqual({
          error: expect.stringMatching(/^no terminal can be had here.*without pty.*background/),
        });
        await expect(sandbox.readFile('was-run', 1)).rejects.toMatchObject({ code: 'not_found' });
        const { output } = await without('terminal', { command: 'echo works' });
        expect(output).toBe('works\n');
      } finally {
        await dispose();
        await rm(path, { recursive: true });
      }
    },
  );

  it('runs in another folder for one command', async () => {
    await call('terminal', { command: 'mkdir -p elsewhere' });
    const { output } = await call('terminal', {
      command: 'basename "$PWD"',
      workdir: 'elsewhere',
    });
    expect(output).toBe('elsewhere\n');
  });

  it.each([
    [{ notify_on_complete: true }, /notify_on_complete is not available.*'wait'/],
    [{ background: true, watch_patterns: ['x'] }, /watch_patterns is not available.*'poll'/],
  ])('refuses %j, which can have no meaning, naming the way out', async (extra, error) => {
    const result = await call('terminal', { command: 'touch was-run', ...extra });
    expect(result).toMatchObject({ error: expect.stringMatching(error), exit_code: -1 });
    expect(await call('terminal', { command: 'ls was-run' })).not.toMatchObject({ exit_code: 0 });
  });

  it.each([
    [{}, /^terminal: command: expected string, got nothing/],
    [{ command: 'x', timeout: 601 }, /timeout: expected at most 600, got 601/],
    [{ command: 'a\0b' }, /NUL/],
  ])('refuses %j', async (args, error) => {
    expect(await call('terminal', args)).toMatchObject({ error: expect.stringMatching(error) });
  });
});
