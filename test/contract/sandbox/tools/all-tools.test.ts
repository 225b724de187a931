import { describe, expect, it } from 'vitest';
import { SandboxLostError } from '../../../../src/core/ports/sandbox.ts';
import { toolCaller, useToolSandbox } from '../../../support/sandbox-tools.ts';

const SECRET = 'sk-or-0123456789abcdef';

describe('all tools', () => {
  const { callWith, open } = useToolSandbox();

  it('keeps secrets out of every result', async () => {
    const redacting = callWith({
      redact: (text) => text.replaceAll(SECRET, '[secret]'),
    });
    await redacting('write_file', { path: 'leak', content: `key=${SECRET}\nother\n` });
    const results = [
      await redacting('terminal', { command: 'cat leak; echo begin | cat - leak' }),
      await redacting('terminal', { command: 'seq 1 100000; cat leak' }),
      await redacting('read_file', { path: 'leak' }),
      await redacting('read_file', { path: SECRET }),
      await redacting('patch', { path: 'leak', old_string: 'other', new_string: 'next' }),
      await redacting('patch', { path: 'leak', old_string: 'key=sk-or-01234567', new_string: '' }),
      await redacting('search_files', { pattern: 'key' }),
      await redacting('search_files', { pattern: 'key', output_mode: 'count', path: SECRET }),
    ];
    for (const result of results) expect(JSON.stringify(result)).not.toContain(SECRET);
    const shown = results.filter((result) => JSON.stringify(result).includes('[secret]'));
    expect(shown).toHaveLength(7);
  });

  it('passes on that the sandbox is lost', async () => {
    const lost = await open();
    await lost.close();
    for (const [name, args] of [
      ['terminal', { command: 'true' }],
      ['terminal', { command: 'true', background: true }],
      ['process', { action: 'list' }],
      ['process', { action: 'wait', session_id: 'proc_1' }],
      ['read_file', { path: 'x' }],
      ['write_file', { path: 'x', content: '' }],
      ['patch', { path: 'x', old_string: 'a', new_string: 'b' }],
      ['search_files', { pattern: 'x' }],
    ] as const) {
      await expect(toolCaller(lost)(name, args)).rejects.toThrow(SandboxLostError);
    }
  });
});
