import { expect, test } from 'vitest';
import { readSettings, settings } from '../../infra/settings.ts';

test('docs/aws-settings.md has every setting', async () => {
  const defaults: Record<string, unknown> = readSettings({});
  const rows = Object.entries(settings).map(([key, setting]) => {
    const purpose = setting.meta()?.description ?? '';
    const byDefault = defaults[key];
    const shown = typeof byDefault === 'string' ? byDefault : JSON.stringify(byDefault);
    return `| \`${key}\` | ${shown === undefined ? '' : `\`${shown}\``} | ${purpose} |`;
  });
  const table = [
    '# Settings of the stack',
    '',
    'Keys of `cdk.json`’s context, or `npx cdk deploy -c <key>=<value>`. Made of `infra/settings.ts` by',
    '`npx vitest run --project infra -u`.',
    '',
    '| setting | default | what it is |',
    '|---|---|---|',
    ...rows,
    '',
  ];
  await expect(table.join('\n')).toMatchFileSnapshot('../../docs/aws-settings.md');
});
