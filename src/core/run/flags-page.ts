import { CLOUD_USES, type CloudUse } from '../cloud/cloud-flags.ts';
import type { FlagMeta } from './flag-meta.ts';
import { expected, valueShape } from './flag-values.ts';
import { metaOf, RUN_CONFIG_KEYS, type RunConfigKey } from './run-config.ts';

const GROUPS: readonly FlagMeta['group'][] = [
  'Required',
  'Model',
  'Agent',
  'Sandbox',
  'Run',
  'Output',
];

/** `docs/flags.md`: every setting of a run, made from the schema that also makes flags and help. */
export function flagsPage(): string {
  const sections = GROUPS.map((group) => {
    const keys = RUN_CONFIG_KEYS.filter((key) => metaOf(key).group === group);
    return [`## ${group}`, '', ...tableOf(keys)].join('\n');
  });
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

const INTRODUCTION = `# Settings of a run

Made from the schema in \`src/core/run/run-config.ts\`; don't edit by hand.

Each setting is a flag of \`talaria run\` (\`--a_b=v\`, \`--a_b v\` or \`--a-b v\`) and, unless it says
"flag only", a key of the JSON file given with \`--config\`, of the type in its second column. A flag
wins over the file. A setting that says "frozen" has to stay the same in every pass of a run. A resume
keeps what is not given; \`--max_cost_usd=none\`, or null in the file, lifts a limit again.

\`talaria submit\` takes the same flags for a run in the cloud; its column says what becomes of them
there: most are sent as they are, a few have no effect or are refused.`;

const IN_THE_CLOUD: Readonly<Record<CloudUse, string>> = {
  sent: 'sent',
  settled: 'settled by the upload',
  private: 'sent, private',
  embedded: 'content is sent',
  local: 'no effect',
  refused: 'refused',
};

function tableOf(keys: readonly RunConfigKey[]): string[] {
  const rows = keys.map((key) => {
    const { help, frozen, commandLineOnly } = metaOf(key);
    const notes = [frozen ? 'frozen' : '', commandLineOnly ? 'flag only' : ''];
    const note = notes.filter((text) => text !== '').join(', ');
    return `| \`${key}\` | ${expected(key)} | ${defaultOf(key)} | ${IN_THE_CLOUD[CLOUD_USES[key]]} | ${help}${note === '' ? '' : ` (${note})`} |`;
  });
  return ['| setting | expects | default | cloud | meaning |', '|---|---|---|---|---|', ...rows];
}

function defaultOf(key: RunConfigKey): string {
  const { default: value } = valueShape(key);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${String(value)}\``;
}
