import { beforeAll, describe, expect, it } from 'vitest';
import { useToolSandbox } from '../../../support/sandbox-tools.ts';

describe('errors name the way out', () => {
  const { call } = useToolSandbox();
  beforeAll(async () => {
    await call('terminal', {
      command: `mkdir folder; mkfifo pipe; printf 'a\\0' > binary; head -c 10000001 /dev/zero > large`,
    });
  });
  const replace = { old_string: 'a', new_string: 'b' };

  it.each([
    ['read_file', { path: 'missing' }, /no such file or folder; find it by search_files/],
    ['read_file', { path: 'folder' }, /is a folder; give the path of a file/],
    ['read_file', { path: 'pipe' }, /pipe, socket or device; use terminal/],
    ['read_file', { path: 'binary' }, /use terminal with file, xxd/],
    ['read_file', { path: 'large' }, /use terminal with head/],
    ['read_file', { path: '/etc/passwd' }, /use a path inside the work folder/],
    ['write_file', { path: 'folder', content: '' }, /is a folder; give the path/],
    ['write_file', { path: '../x', content: '' }, /use a path inside/],
    ['patch', { path: 'missing', ...replace }, /find it by search_files/],
    ['patch', { path: 'binary', ...replace }, /use terminal with file/],
    ['patch', { mode: 'patch', patch: '*** Delete File: missing' }, /find it by search_files/],
    ['patch', { mode: 'patch', patch: '*** Delete File: large' }, /use terminal with rm/],
    ['search_files', { pattern: 'a(' }, /RE2 syntax.*put a backslash before/],
    ['search_files', { pattern: 'a', path: 'missing' }, /find it by search_files/],
    ['process', { action: 'poll', session_id: 'x' }, /expected one of: none was started/],
    ['terminal', { command: 'sleep 5', timeout: 1 }, /longer timeout.*background/],
  ])('%s %j', async (name, args, error) => {
    expect(await call(name, args)).toMatchObject({ error: expect.stringMatching(error) });
  });
});
