import { describe, expect, it } from 'vitest';
import { BUILTIN_TOOLS } from '../../../src/core/tools/builtin-tools.ts';

describe('BUILTIN_TOOLS', () => {
  it.each([
    ['terminal', 'command* background timeout workdir pty notify_on_complete watch_patterns'],
    ['process', 'action* session_id data timeout offset limit'],
    ['read_file', 'path* offset limit'],
    ['write_file', 'path* content*'],
    ['patch', 'mode path old_string new_string replace_all patch'],
    ['search_files', 'pattern* target path file_glob limit offset output_mode context'],
    ['todo', 'todos merge'],
  ])('offers %s with the arguments of Hermes', (name, expected) => {
    const schema = BUILTIN_TOOLS[name]?.schema;
    const required = schema?.parameters['required'] as string[] | undefined;
    const properties = schema?.parameters['properties'] as Record<string, { description: string }>;
    const names = Object.keys(properties);
    expect(names.map((arg) => (required?.includes(arg) ? `${arg}*` : arg)).sort()).toEqual(
      expected.split(' ').sort(),
    );
    expect(schema?.name).toBe(name);
    expect(names.filter((arg) => !properties[arg]?.description)).toEqual([]);
  });

  it('lists seven', () => {
    expect(Object.keys(BUILTIN_TOOLS)).toHaveLength(7);
  });
});
