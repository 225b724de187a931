import { z } from 'zod';
import type { RunProgress } from '../../adapters/aws/run-progress.ts';
import { coverageLine, coverageSchema } from '../../core/run/coverage.ts';
import { formatCount, formatNumberOf, formatShare, oneSafeLine } from './format.ts';
import type { Colors } from './terminal.ts';

export interface ShownStatus {
  run: RunProgress | undefined;
  /** The text of `error.json`: why the last dataset was refused. */
  refusal: string | undefined;
  /** The text of `statistics.json`. */
  statistics: string | undefined;
}

const refusalSchema = z.object({ error: z.string() });
const statisticsSchema = z.object({ coverage: coverageSchema });

/** Where a run of the cloud is: a label and its value a line. */
export function statusLines(
  runName: string,
  { run, refusal, statistics }: ShownStatus,
  pc: Colors,
): string[] {
  const row = (label: string, value: string) => `${pc.dim(label.padEnd(10))} ${value}`;
  const words = refusal === undefined ? undefined : wordsOf(refusal);
  const refused = words === undefined ? [] : [row('refused', pc.red(oneSafeLine(words, 1000)))];
  if (run === undefined) return [pc.bold(runName), ...refused];
  const { state, pass, reason, active } = run.run;
  const { planned, ended } = run.prompts;
  return [
    `${pc.bold(runName)}: ${state}${pass > 1 ? `, pass ${pass}` : ''}`,
    ...(reason === '' || reason === words ? [] : [row('because', oneSafeLine(reason, 1000))]),
    ...refused,
    row(
      'prompts',
      `${formatCount(ended)} of ${formatCount(planned)} have ended (${formatShare(ended, planned)})`,
    ),
    row('batches', batchText(run)),
    ...(active > 0 ? [row('tasks', formatNumberOf(active, 'task'))] : []),
    ...coverage(state, statistics).map((text) => row('coverage', text)),
  ];
}

function batchText({ batches }: RunProgress): string {
  const some = Object.entries(batches).filter(([, count]) => count > 0);
  if (some.length === 0) return 'none yet';
  return some.map(([state, count]) => `${formatCount(count)} ${state}`).join(', ');
}

/** Of the last merge: old while the run goes on. */
function coverage(state: string, statistics: string | undefined): string[] {
  if (statistics === undefined || !['done', 'paused', 'cancelled'].includes(state)) return [];
  const parsed = statisticsSchema.safeParse(JSON.parse(statistics));
  return parsed.success ? [coverageLine(parsed.data.coverage)] : [];
}

function wordsOf(text: string): string {
  try {
    return refusalSchema.parse(JSON.parse(text)).error;
  } catch {
    return text;
  }
}
