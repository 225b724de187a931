import { REHEARSAL } from '../../core/run/create-manifest.ts';
import type { InspectedDataset } from '../cloud/inspect-dataset.ts';
import type { Submission } from '../cloud/submission.ts';
import { formatCount, formatNumberOf, oneSafeLine } from './format.ts';
import type { Colors } from './terminal.ts';

const LISTED_BAD_LINES = 3;

/** What a person should know before a dataset is sent: a label and its value a line. */
export function submitLines(
  of: { submission: Submission; inspected: InspectedDataset; bucket: string; pass: number },
  pc: Colors,
): string[] {
  const { config, notices, toolsets } = of.submission;
  const row = (label: string, value: string) => `${pc.dim(label.padEnd(10))} ${value}`;
  return [
    `${pc.bold(`talaria submit ${config.run_name}`)}${of.pass > 1 ? `, pass ${of.pass}: what is done is not bought again` : ''}`,
    row('dataset', datasetText(of.inspected)),
    ...badLines(of.inspected, pc),
    row(
      'model',
      config.model === REHEARSAL
        ? pc.yellow('rehearsal: no model is asked, all answers are made up')
        : oneSafeLine(`${config.model} at ${config.base_url}`, 500),
    ),
    row('toolsets', toolsets.join(', ')),
    row(
      'tasks',
      `up to ${formatCount(config.num_workers)} at once, ${formatNumberOf(Math.min(config.batch_size, 8), 'prompt')} each`,
    ),
    row('bucket', of.bucket),
    ...notices.map((notice) => row('note', pc.yellow(oneSafeLine(notice, 500)))),
    '',
  ];
}

function datasetText({ rows, images, withoutImage }: InspectedDataset): string {
  return [
    formatNumberOf(rows, 'row'),
    ...(images > 0 ? [`of ${formatNumberOf(images, 'image')}`] : []),
    ...(withoutImage > 0 && images > 0 ? [`${formatCount(withoutImage)} without one`] : []),
  ].join(', ');
}

function badLines({ invalidCount, invalid }: InspectedDataset, pc: Colors): string[] {
  if (invalidCount === 0) return [];
  const shown = invalid.slice(0, LISTED_BAD_LINES);
  const indent = ' '.repeat(11);
  return [
    `${indent}${formatNumberOf(invalidCount, 'bad line is', 'bad lines are')} skipped:`,
    ...shown.map(({ line, reason }) => `${indent}  line ${line}: ${oneSafeLine(reason, 200)}`),
    ...(invalidCount > shown.length
      ? [`${indent}  and ${formatCount(invalidCount - shown.length)} more`]
      : []),
  ].map((line) => pc.yellow(line));
}
