import pc from 'picocolors';
import type { InvalidLine } from '../../adapters/local/dataset-snapshot.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { formatCount, oneSafeLine } from './format.ts';

/** What a person should know before the first model call. */
export interface Preflight {
  config: RunConfig;
  pass: number;
  folder: string;
  dataset: { rows: number; invalidCount: number; invalid: InvalidLine[]; unchanged: boolean };
  prompts: { fresh: number; done: number; toRetry: number };
  toolsets: { available: string[]; leftOut: { toolset: string; reason: string }[] };
  rehearsal: boolean;
  /** Flags that have no effect at this endpoint. */
  ignoredFlags: string[];
  recovered: { closed: number; adopted: number };
}

const LISTED_BAD_LINES = 3;

/** The preflight as lines: a label and its value each. */
export function preflightLines(of: Preflight): string[] {
  const { config, prompts } = of;
  const row = (label: string, value: string) => `${pc.dim(label.padEnd(10))} ${value}`;
  return [
    `${pc.bold(`talaria run ${config.run_name}`)}${of.pass > 1 ? `, pass ${of.pass}` : ''}`,
    row('dataset', datasetText(of)),
    ...badLines(of),
    row(
      'prompts',
      `${formatCount(prompts.fresh)} new, ${formatCount(prompts.done)} done, ${formatCount(prompts.toRetry)} to retry`,
    ),
    row('model', modelText(of)),
    ...of.ignoredFlags.map((flag) =>
      row('', pc.yellow(`--${flag} has no effect at this endpoint; --extra_body has`)),
    ),
    row('toolsets', toolsetText(of)),
    ...leftOutLine(of).map((text) => row('', pc.dim(text))),
    row('sandbox', 'process: a fresh folder for each prompt on this machine, no isolation'),
    row(
      'workers',
      `${config.num_workers} prompts in flight, batches of ${config.batch_size}, up to ${config.max_turns} turns, seed ${config.seed}`,
    ),
    row('output', of.folder),
    ...recoveredLine(of).map((text) => row('recovered', text)),
    '',
  ];
}

function datasetText({ config, dataset }: Preflight): string {
  const cut = config.max_samples !== undefined && config.max_samples < dataset.rows;
  return [
    `${config.dataset_file}: ${formatCount(dataset.rows)} rows`,
    ...(cut ? [`the first ${formatCount(config.max_samples ?? 0)} taken (max_samples)`] : []),
    ...(config.samples_per_prompt > 1 ? [`${config.samples_per_prompt} samples of each`] : []),
    ...(dataset.unchanged ? ['unchanged since the last pass'] : []),
  ].join(', ');
}

function badLines({ dataset }: Preflight): string[] {
  if (dataset.invalidCount === 0) return [];
  const shown = dataset.invalid.slice(0, LISTED_BAD_LINES);
  const more = dataset.invalidCount - shown.length;
  return [
    pc.yellow(`${' '.repeat(11)}${formatCount(dataset.invalidCount)} bad lines are skipped:`),
    ...shown.map(({ line, reason }) =>
      pc.yellow(`${' '.repeat(13)}line ${line}: ${oneSafeLine(reason, 200)}`),
    ),
    ...(more > 0 ? [pc.yellow(`${' '.repeat(13)}and ${formatCount(more)} more`)] : []),
  ];
}

function modelText({ config, rehearsal }: Preflight): string {
  return rehearsal
    ? pc.yellow('rehearsal: no model is asked, all answers are made up')
    : `${config.model} at ${config.base_url}`;
}

function toolsetText({ config, toolsets }: Preflight): string {
  const from = config.toolsets === undefined ? `distribution ${config.distribution}` : 'fixed set';
  return `${toolsets.available.join(', ')} (${from})`;
}

function leftOutLine({ toolsets }: Preflight): string[] {
  if (toolsets.leftOut.length === 0) return [];
  const reasons = new Map<string, string[]>();
  for (const { toolset, reason } of toolsets.leftOut) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), toolset]);
  }
  return [...reasons].map(([reason, names]) => `left out, ${reason}: ${names.join(', ')}`);
}

function recoveredLine({ recovered }: Preflight): string[] {
  if (recovered.closed === 0) return [];
  const adopted =
    recovered.adopted === 0 ? '' : `, ${recovered.adopted} finished rows entered in the ledger`;
  return [`${recovered.closed} batches that an earlier process left open${adopted}`];
}
