import { describe, expect, it } from 'vitest';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('read_file', () => {
  const { call } = useToolSandbox();

  it('numbers lines and says how to go on', async () => {
    await call('write_file', { path: 'four', content: 'a\nb\r\nc\nd' });
    expect(await call('read_file', { path: 'four' })).toEqual({
      content: '1|a\n2|b\n3|c\n4|d',
      total_lines: 4,
      file_size: 8,
      truncated: false,
    });
    expect(await call('read_file', { path: 'four', offset: 2, limit: 2 })).toEqual({
      content: '2|b\n3|c',
      total_lines: 4,
      file_size: 8,
      truncated: true,
      hint: expect.stringContaining('offset=4'),
    });
  });

  it('says that an offset is after the end', async () => {
    const result = await call('read_file', { path: 'four', offset: 9 });
    expect(result).toMatchObject({
      content: '',
      truncated: false,
      hint: expect.stringMatching('4'),
    });
  });

  it('takes an empty file', async () => {
    await call('write_file', { path: 'empty', content: '' });
    expect(await call('read_file', { path: 'empty' })).toMatchObject({
      content: '',
      total_lines: 0,
    });
  });

  it('cuts long lines and long results, and goes on where it ended', async () => {
    await call('terminal', {
      command:
        'for i in $(seq 100); do head -c 5000 /dev/zero | tr "\\0" x; echo " $i"; done > wide',
    });
    const result = await call('read_file', { path: 'wide' });
    expect(String(result['content']).length).toBeLessThan(110_000);
    const next = Number(/offset=(\d+)/.exec(String(result['hint']))?.[1]);
    expect(String(result['content']).split('\n')).toHaveLength(next - 1);
    expect(String(result['content'])).toMatch(/^1\|x{2000}… \[3002 characters cut\]$/m);
  });

  it.each([
    ['printf "a\\0b" > bad', /binary/],
    ['head -c 10000001 /dev/zero | tr "\\0" x > bad', /at most 10000000 bytes/],
    ['mkdir bad', /is a folder/],
    ['mkfifo bad', /no regular file/],
    ['ln -s /etc/passwd bad', /inside the work folder/],
    ['true', /no such file/],
  ])('refuses after: %s', async (command, error) => {
    await call('terminal', { command: `rm -rf bad; ${command}` });
    const result = await call('read_file', { path: 'bad' });
    expect(result).toEqual({ error: expect.stringMatching(error) });
    expect(toolSucceeded(JSON.stringify(result))).toBe(false);
  });
});
