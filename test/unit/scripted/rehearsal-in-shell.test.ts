import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsByTurns, KNOWN, play, type RunTool, WEIRD } from './play-rehearsal.ts';

const BUSYBOX = 'busybox';

describe('the commands in a real shell', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'talaria-rehearsal-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const shell = (command: string) =>
    execFileSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });

  /** The file tools in the plainest form. */
  const tools: Record<string, (args: Record<string, unknown>) => string> = {
    terminal: ({ command }) => JSON.stringify({ output: shell(String(command)) }),
    write_file: ({ path, content }) => {
      const file = join(folder, String(path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, String(content));
      return '{}';
    },
    patch: ({ path, old_string, new_string }) => {
      const file = join(folder, String(path));
      const parts = readFileSync(file, 'utf8').split(String(old_string));
      if (parts.length !== 2) return '{"error":"not there once"}';
      writeFileSync(file, parts.join(String(new_string)));
      return '{}';
    },
  };
  const runTool: RunTool = (name, args) => tools[name]?.(args) ?? '{}';

  it.each(WEIRD)('%j leaves the same notes by terminal and by file tools', async (prompt) => {
    const id = (await idsByTurns()).get(5);
    const byTerminal = await play(prompt, ['terminal'], id, runTool);
    const notes = readFileSync(join(folder, 'rehearsal/notes.md'), 'utf8');
    const { output } = JSON.parse(String(byTerminal.messages.at(-4)?.content));
    expect(output).toBe('4\n');
    rmSync(join(folder, 'rehearsal'), { recursive: true });
    const byFiles = await play(prompt, KNOWN, id, runTool);
    expect(readFileSync(join(folder, 'rehearsal/notes.md'), 'utf8')).toBe(notes);
    expect(notes).toMatch(/^# Notes of a rehearsal\n\nPrompt: "[^"\n]+"\nStatus: "revised"\n$/);
    expect(byFiles.replies.at(-1)?.message.content).toContain('made: 5, of which succeeded: 5.');
  });

  it.skipIf(spawnSync(BUSYBOX, ['true']).status !== 0)('runs in busybox', async () => {
    const id = (await idsByTurns()).get(5);
    const applets = join(folder, 'bin');
    mkdirSync(applets);
    execFileSync(BUSYBOX, ['--install', '-s', applets]);
    const { messages } = await play("it's", ['terminal'], id, (_name, args) =>
      execFileSync(join(applets, 'sh'), ['-c', String(args['command'])], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: applets },
      }),
    );
    expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      '',
      '',
      '4\n',
      '1:# Notes of a rehearsal\n',
    ]);
  });
});
