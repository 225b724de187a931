import { describe, expect, it } from 'vitest';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('write_file', () => {
  const { call } = useToolSandbox();

  it('makes folders and counts bytes', async () => {
    const result = await call('write_file', { path: 'n/e/w', content: 'hällo' });
    expect(result).toEqual({ bytes_written: 6, path: 'n/e/w' });
    expect(await call('terminal', { command: 'cat n/e/w' })).toMatchObject({ output: 'hällo' });
  });

  it.each([
    [{ path: 'x' }, /content: expected string, got nothing/],
    [{ path: 'n', content: '' }, /is a folder/],
    [{ path: '/etc/x', content: '' }, /inside the work folder/],
  ])('refuses %j', async (args, error) => {
    expect(await call('write_file', args)).toEqual({ error: expect.stringMatching(error) });
  });
});
