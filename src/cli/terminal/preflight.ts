import type { InvalidLine } from '../../core/dataset/invalid-lines.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { formatCount, formatNumberOf, oneSafeLine } from './format.ts';
import type { Colors } from './terminal.ts';

/** What a person should know before the first model call. */
export interface Preflight {
  config: RunConfig;
  pass: number;
  folder: string;
  dataset: {
    rows: number;
    invalidCount: number;
    invalid: readonly InvalidLine[];
    inContainers: number;
    unchanged: boolean;
  };
  prompts: { fresh: number; done: number; toRetry: number };
  toolsets: { available: string[]; leftOut: { toolset: string; reason: string }[] };
  rehearsal: boolean;
  /** Flags that have no effect at this endpoint. */
  ignoredFlags: string[];
  recovered: { closed: number; adopted: number };
}

const LISTED_BAD_LINES = 3;
/** Longest path or name shown, in characters. */
const SHOWN_NAME = 500;

/** The preflight as lines: a label and its value each. */
export function preflightLines(of: Preflight, pc: Colors): string[] {
  const { config, prompts } = of;
  const row = (label: string, value: string) => `${pc.dim(label.padEnd(10))} ${value}`;
  return [
    `${pc.bold(`talaria run ${config.run_name}`)}${of.pass > 1 ? `, pass ${of.pass}` : ''}`,
    row('dataset', datasetText(of)),
    ...badLines(of, pc),
    row(
      'prompts',
      `${formatCount(prompts.fresh)} new, ${formatCount(prompts.done)} done, ${formatCount(prompts.toRetry)} to retry`,
    ),
    row('model', modelText(of, pc)),
    ...of.ignoredFlags.map((flag) =>
      row('', pc.yellow(`--${flag} has no effect at this endpoint; --extra_body has`)),
    ),
    row('toolsets', toolsetText(of)),
    ...leftOutLine(of).map((text) => row('', pc.dim(text))),
    row('sandbox', sandboxText(of)),
    row('workers', workText(config)),
    row('output', oneSafeLine(of.folder, SHOWN_NAME)),
    ...recoveredLine(of).map((text) => row('recovered', text)),
    ...nothingToDo(of).map((text) => row('to do', pc.green(text))),
    '',
  ];
}

function sandboxText({ config, dataset: { rows, inContainers } }: Preflight): string {
  const folder = 'process: a fresh folder for each prompt on this machine, no isolation';
  const container = `docker: a fresh container for each prompt, of ${config.default_image ?? 'its image'}`;
  if (config.sandbox === 'docker' || inContainers === rows) return container;
  if (inContainers === 0) return folder;
  return `${folder}; for ${formatNumberOf(inContainers, 'row')} with an image a container`;
}

function datasetText({ config, dataset }: Preflight): string {
  const cut = config.max_samples !== undefined && config.max_samples < dataset.rows;
  return [
    `${datasetName(config.dataset_file)}: ${formatNumberOf(dataset.rows, 'row')}`,
    ...(cut ? [`the first ${formatCount(config.max_samples ?? 0)} taken (max_samples)`] : []),
    ...(config.samples_per_prompt > 1 ? [`${config.samples_per_prompt} samples of each`] : []),
    ...(dataset.unchanged ? ['unchanged since the last pass'] : []),
  ].join(', ');
}

function datasetName(path: string): string {
  return path === '-' ? 'standard input' : oneSafeLine(path, SHOWN_NAME);
}

function workText(config: RunConfig): string {
  return [
    `${formatNumberOf(config.num_workers, 'prompt')} in flight`,
    `batches of ${formatCount(config.batch_size)}`,
    `up to ${formatNumberOf(config.max_turns, 'turn')}`,
    `seed ${config.seed}`,
  ].join(', ');
}

function nothingToDo({ prompts }: Preflight): string[] {
  if (prompts.fresh + prompts.toRetry > 0) return [];
  const all =
    prompts.done === 1 ? 'the one prompt is' : `all ${formatCount(prompts.done)} prompts are`;
  return [`nothing: ${all} done`];
}

function withoutPassword(url: string): string {
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return url;
  parsed.username = '…';
  parsed.password = '';
  return parsed.href;
}

function badLines({ dataset }: Preflight, pc: Colors): string[] {
  if (dataset.invalidCount === 0) return [];
  const shown = dataset.invalid.slice(0, LISTED_BAD_LINES);
  const more = dataset.invalidCount - shown.length;
  return [
    pc.yellow(
      `${' '.repeat(11)}${formatNumberOf(dataset.invalidCount, 'bad line is', 'bad lines are')} skipped:`,
    ),
    ...shown.map(({ line, reason }) =>
      pc.yellow(`${' '.repeat(13)}line ${line}: ${oneSafeLine(reason, 200)}`),
    ),
    ...(more > 0 ? [pc.yellow(`${' '.repeat(13)}and ${formatCount(more)} more`)] : []),
  ];
}

function modelText({ config, rehearsal }: Preflight, pc: Colors): string {
  return rehearsal
    ? pc.yellow('rehearsal: no model is asked, all answers are made up')
    : oneSafeLine(`${config.model} at ${withoutPassword(config.base_url)}`, SHOWN_NAME);
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
  const rows = formatNumberOf(recovered.adopted, 'finished row');
  const adopted = recovered.adopted === 0 ? '' : `, ${rows} entered in the ledger`;
  const batches = formatNumberOf(recovered.closed, 'batch', 'batches');
  return [`${batches} that an earlier process left open${adopted}`];
}
