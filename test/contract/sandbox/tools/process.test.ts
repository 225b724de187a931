import { describe, expect, it } from 'vitest';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

const SECRET = 'sk-or-0123456789abcdef';

describe('process', () => {
  const { call, callWith, open } = useToolSandbox();
  async function start(command: string): Promise<string> {
    const { session_id: id } = await call('terminal', { command, background: true });
    return String(id);
  }
  const act = (action: string, id: string, extra: Record<string, unknown> = {}) =>
    call('process', { action, session_id: id, ...extra });

  it('begins with terminal in the background, which answers at once', async () => {
    const result = await call('terminal', { command: 'echo up; sleep 30', background: true });
    expect(result).toEqual({
      output: 'up\n',
      session_id: expect.stringMatching(/^proc_\d+$/),
      pid: expect.any(Number),
      status: 'running',
      exit_code: 0,
      error: null,
      hint: expect.stringContaining(`session_id ${result['session_id']}`),
    });
    expect(await act('kill', String(result['session_id']))).toMatchObject({
      status: 'killed',
      exit_code: 143,
      output: 'up\n',
    });
  });

  it('shows an early end at once', async () => {
    const result = await call('terminal', { command: 'no-such-command', background: true });
    expect(result).toMatchObject({ status: 'exited', exit_code: 127 });
    expect(result['output']).toContain('not found');
    expect(toolSucceeded(JSON.stringify(result))).toBe(true);
  });

  it('goes on in a folder, and refuses a NUL byte', async () => {
    await call('terminal', { command: 'mkdir -p elsewhere' });
    const command = 'basename "$PWD"';
    const there = { command, background: true, workdir: 'elsewhere' };
    expect(await call('terminal', there)).toMatchObject({ output: 'elsewhere\n' });
    const nul = await call('terminal', { command: 'a\0', background: true });
    expect(nul).toMatchObject({ error: expect.stringContaining('NUL') });
  });

  it('lists, polls and waits', async () => {
    const id = await start('echo one; read -r x; echo "got $x"; exit 3');
    expect(await act('poll', id)).toMatchObject({
      session_id: id,
      status: 'running',
      output_preview: 'one\n',
      uptime_seconds: 0,
    });
    const { processes } = (await call('process', { action: 'list' })) as { processes: unknown[] };
    expect(processes).toContainEqual(
      expect.objectContaining({ session_id: id, status: 'running' }),
    );
    expect(await act('wait', id, { timeout: 1 })).toMatchObject({
      status: 'timeout',
      output: 'one\n',
      timeout_note: expect.stringMatching(/after 1 s.*kill/),
    });
    expect(await act('submit', id, { data: 'yes' })).toEqual({
      session_id: id,
      status: 'ok',
      bytes_written: 4,
    });
    expect(await act('wait', id)).toMatchObject({
      status: 'exited',
      exit_code: 3,
      output: 'one\ngot yes\n',
    });
    expect(await act('kill', id)).toMatchObject({ status: 'already_exited', exit_code: 3 });
  });

  it('writes without a newline, and closes the input', async () => {
    const id = await start('cat; echo end');
    await act('write', id, { data: 'a' });
    await act('write', id, { data: 'b\n' });
    expect(await act('close', id)).toMatchObject({ status: 'ok' });
    expect(await act('wait', id)).toMatchObject({ output: 'ab\nend\n', exit_code: 0 });
    expect(await act('submit', id, { data: 'x' })).toEqual({
      error: expect.stringMatching(/proc_\d+: has ended with exit code 0; see its log/),
    });
  });

  it('gives the log by lines', async () => {
    const id = await start('seq 1 1000');
    const log = async (extra: Record<string, unknown>) => await act('log', id, extra);
    await act('wait', id);
    expect(await log({})).toMatchObject({ total_lines: 1000, offset: 800 });
    expect(await log({ limit: 2 })).toMatchObject({ output: '999\n1000', offset: 998 });
    expect(await log({ offset: 0, limit: 3 })).toMatchObject({
      output: '1\n2\n3',
      hint: 'use offset=3 to go on',
    });
    expect(await log({ offset: 998, limit: 50 })).not.toHaveProperty('hint');
    expect(await log({ offset: 2000 })).toMatchObject({
      output: '',
      hint: expect.stringContaining('there are 1000'),
    });
  });

  it('says which lines of a log are gone', async () => {
    const id = await start('seq 1 200000');
    await act('wait', id);
    const begin = await act('log', id, { offset: 0, limit: 1 });
    expect(begin['total_lines']).toBe(200_000);
    expect(begin['hint']).toMatch(/^the first \d+ lines are kept no longer; use offset=\d+/);
    expect(begin['output']).toBe(String(Number(begin['offset']) + 1));
    expect(await act('log', id, { limit: 1 })).toMatchObject({ output: '200000' });
  });

  it('shows one long line without a newline', async () => {
    const id = await start('head -c 400000 /dev/zero | tr "\\0" x');
    expect(String((await act('wait', id))['output'])).toMatch(/^x{2000}$/);
    expect(String((await act('log', id))['output'])).toMatch(/^x{50000}$/);
  });

  it('waits no longer than the prompt has, and ends with it', async () => {
    const id = await start('sleep 30');
    const hurried = callWith({ remainingMs: () => 200 });
    expect(await hurried('process', { action: 'wait', session_id: id })).toMatchObject({
      status: 'timeout',
      timeout_note: expect.stringContaining('after 0.2 s'),
    });
    const over = callWith({ signal: AbortSignal.timeout(100) });
    expect(await over('process', { action: 'wait', session_id: id })).toMatchObject({
      timeout_note: expect.stringContaining('time for this task is up'),
    });
  });

  it('keeps secrets out, also one that is cut in two', async () => {
    const redacting = callWith({ redact: (text) => text.replaceAll(SECRET, '[secret]') });
    const command = `for i in $(seq 20000); do echo ${SECRET}; done`;
    const first = await redacting('terminal', { command, background: true });
    const session_id = first['session_id'];
    const results = [first, await redacting('process', { action: 'list' })];
    for (const action of ['wait', 'poll', 'log', 'kill']) {
      results.push(await redacting('process', { action, session_id }));
    }
    results.push(await redacting('process', { action: 'log', session_id, offset: 0, limit: 2000 }));
    results.push(await redacting('process', { action: 'poll', session_id: SECRET }));
    for (const result of results) {
      expect(JSON.stringify(result)).not.toMatch(/sk-or|0123456789abcdef/);
      expect(JSON.stringify(result)).toContain('[secret]');
    }
  });

  it.each([
    [{ action: 'poll' }, /needs a session_id.*'list'/],
    [{ action: 'write', session_id: 'proc_1' }, /needs data/],
    [{ action: 'stop' }, /action: expected "list" or "poll"/],
    [{}, /action: expected/],
    [{ action: 'wait', session_id: 'proc_1', timeout: 0 }, /at least 1/],
    [{ action: 'log', session_id: 'proc_99' }, /no process "proc_99"; expected one of/],
  ])('refuses %j', async (args, error) => {
    const result = await call('process', args);
    expect(result).toEqual({ error: expect.stringMatching(error) });
    expect(toolSucceeded(JSON.stringify(result))).toBe(false);
  });

  it('is lost with its sandbox', async () => {
    const sandbox = await open();
    const other = callWith({ sandbox });
    expect(await other('process', { action: 'list' })).toEqual({ processes: [] });
    await sandbox.close();
    await expect(other('process', { action: 'list' })).rejects.toThrow(/closed/);
  });
});
