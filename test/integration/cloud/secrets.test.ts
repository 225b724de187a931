import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { deploySmallStack, type SmallStack } from '../../support/small-stack.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';

describe.skipIf(!hasEmulator())('talaria secrets', () => {
  const folder = useCommandFolder();
  let emulator: Emulator;
  let stack: SmallStack;
  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await deploySmallStack(emulator.endpoint, 'staging');
  }, 60_000);
  afterAll(() => emulator?.stop());

  const secrets = (words: string[], stdin = '', env: Record<string, string> = {}) =>
    folder.talaria(['secrets', ...words, '--stack=staging'], {
      env: { ...emulator.env, ...env },
      stdin,
    });

  async function stored(): Promise<unknown> {
    const get = new GetSecretValueCommand({ SecretId: stack.secretArn });
    return JSON.parse((await stack.secrets.send(get)).SecretString ?? '');
  }

  it('keeps each key by its host, shows none, and forgets one', async () => {
    const set = await secrets(['set', 'openrouter.ai'], 'sk-or-1\n');
    expect(set, set.stderr).toMatchObject({ code: 0, stdout: 'stored the key of openrouter.ai\n' });
    const from = await secrets(['set', 'http://10.0.0.7:8000/v1', '--from_env', 'MY_KEY'], '', {
      MY_KEY: 'local-2',
    });
    expect(from, from.stderr).toMatchObject({ code: 0 });
    expect(await stored()).toEqual({ 'openrouter.ai': 'sk-or-1', '10.0.0.7:8000': 'local-2' });
    await secrets(['set', 'OpenRouter.ai'], 'sk-or-3');
    const list = await secrets(['list']);
    expect(list.stdout).toBe('10.0.0.7:8000\nopenrouter.ai\n');
    expect(await secrets(['remove', '10.0.0.7:8000', '--json'])).toMatchObject({
      stdout: '{"host":"10.0.0.7:8000","removed":true}\n',
    });
    expect(await stored()).toEqual({ 'openrouter.ai': 'sk-or-3' });
  });

  it('takes no key as an argument, and no host or key that is none', async () => {
    const before = await stored();
    const ends = [
      [await secrets(['set', 'openrouter.ai', 'sk-arg']), 'too many arguments'],
      [await secrets(['set', 'openrouter.ai'], ''), 'expected a key, got nothing'],
      [await secrets(['set', 'openrouter.ai'], 'two words'), 'expected a key on one line'],
      [await secrets(['set', 'openrouter.ai', '--from_env=NONE']), 'the variable NONE is not set'],
      [await secrets(['set', 'openrouter.ai/api'], 'x'), 'expected the host of an endpoint'],
      [await secrets(['set', 'u:p@openrouter.ai'], 'x'), 'expected the host of an endpoint'],
    ] as const;
    for (const [end, words] of ends) {
      expect(end, end.stderr).toMatchObject({ code: 2 });
      expect(end.stderr).toContain(words);
      expect(end.stderr).not.toMatch(/two words/);
    }
    expect(await stored()).toEqual(before);
  });
});
