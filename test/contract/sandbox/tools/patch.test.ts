import { describe, expect, it } from 'vitest';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('patch', () => {
  const { call } = useToolSandbox();

  const content = 'alpha\nbeta\ngamma\nbeta\n';
  const replace = async (args: Record<string, unknown>) => {
    await call('write_file', { path: 'p.txt', content });
    return call('patch', { mode: 'replace', path: 'p.txt', ...args });
  };
  const text = async () => (await call('terminal', { command: 'cat p.txt' }))['output'];

  it('replaces what occurs once', async () => {
    const result = await replace({ old_string: 'gamma', new_string: 'GAMMA' });
    expect(result).toEqual({
      success: true,
      diff: '--- a/p.txt\n+++ b/p.txt\n@@ -1,4 +1,4 @@\n alpha\n beta\n-gamma\n+GAMMA\n beta\n',
      files_modified: ['p.txt'],
      replacements: 1,
    });
    expect(await text()).toBe('alpha\nbeta\nGAMMA\nbeta\n');
  });

  it('replaces all where asked for, taking $& as it is', async () => {
    const all = { old_string: 'beta', new_string: '$&', replace_all: true };
    expect(await replace(all)).toMatchObject({ success: true, replacements: 2 });
    expect(await text()).toBe('alpha\n$&\ngamma\n$&\n');
  });

  it.each([
    [{ old_string: 'beta', new_string: 'x' }, /occur once, got 2 times/],
    [{ old_string: 'gamna', new_string: 'x' }, /does not occur.*:\n3\|gamma$/],
    [{ old_string: 'zzz', new_string: 'x' }, /nothing like/],
    [{ old_string: '', new_string: 'x' }, /write_file/],
    [{ old_string: 'beta', new_string: 'beta' }, /the same/],
    [{ old_string: 'beta' }, /got no new_string/],
    [{ mode: 'patch' }, /needs the argument patch/],
    [{ path: 'missing', old_string: 'a', new_string: 'b' }, /missing: no such file/],
  ])('refuses %j and changes nothing', async (args, error) => {
    const result = await replace(args);
    expect(result).toMatchObject({ error: expect.stringMatching(error) });
    expect(toolSucceeded(JSON.stringify(result))).toBe(false);
    expect(await text()).toBe(content);
  });

  it('refuses a file that is not UTF-8', async () => {
    await call('terminal', { command: `printf 'caf\\351 a' > latin` });
    const result = await call('patch', { path: 'latin', old_string: 'a', new_string: 'b' });
    expect(result).toMatchObject({ success: false, error: expect.stringMatching('UTF-8') });
  });
});
