import Table from 'cli-table3';
import { coverageLine } from '../../core/run/coverage.ts';
import type { MergeResult } from '../../core/run/merge.ts';
import type { Statistics } from '../../core/run/statistics.ts';
import type { StopReason } from '../../core/work/run-stop.ts';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatNumberOf,
  formatShare,
  oneSafeLine,
} from './format.ts';
import type { Colors } from './terminal.ts';

/** Longest reason shown, in characters: a provider's words may be a whole page. */
const SHOWN_REASON = 1000;

const BARE = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

function table(head: string[], rows: string[][]): string {
  const made = new Table({
    head,
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  made.push(...rows);
  return made.toString();
}

/** The end of a run or merge, for people: what came out, at what price, where it is. */
export function summaryLines(result: MergeResult, folder: string, pc: Colors): string[] {
  const { statistics, coverage } = result;
  return [
    '',
    outcomeTable(statistics),
    '',
    ...toolTable(statistics),
    ...numbers(statistics, pc),
    `${pc.dim('coverage  ')} ${coverageLine(coverage)}`,
    '',
    ...fileLines(result, folder, pc),
  ];
}

function outcomeTable({ outcomes, coverage }: Statistics): string {
  const rows = Object.entries(outcomes)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => [name, formatCount(count), formatShare(count, coverage.planned)]);
  if (coverage.pending > 0) {
    rows.push([
      'pending',
      formatCount(coverage.pending),
      formatShare(coverage.pending, coverage.planned),
    ]);
  }
  return table(['outcome', 'prompts', 'share'], rows);
}

function toolTable({ tool_statistics }: Statistics): string[] {
  const rows = Object.entries(tool_statistics).map(([name, of]) => [
    name,
    formatCount(of.count),
    formatCount(of.success),
    formatCount(of.failure),
    `${of.success_rate.toFixed(1)} %`,
    `${of.failure_rate.toFixed(1)} %`,
  ]);
  if (rows.length === 0) return [];
  return [table(['tool', 'count', 'success', 'failure', 'success rate', 'failure rate'], rows), ''];
}

function numbers(of: Statistics, pc: Colors): string[] {
  const reasoning = of.reasoning_statistics;
  const row = (label: string, value: string) => `${pc.dim(label.padEnd(10))} ${value}`;
  return [
    row(
      'reasoning',
      `${formatCount(reasoning.turns_with_reasoning)} of ${formatCount(reasoning.total_assistant_turns)} assistant turns (${formatShare(reasoning.turns_with_reasoning, reasoning.total_assistant_turns)})`,
    ),
    row(
      'discarded',
      `${formatCount(of.outcomes['discarded/no_reasoning'])} without reasoning, ${formatCount(of.outcomes['discarded/invalid_tool'])} with an invented tool`,
    ),
    row(
      'tokens',
      `${formatCount(of.usage.total_tokens)} (${formatCount(of.usage.prompt_tokens)} in, ${formatCount(of.usage.completion_tokens)} out) in ${formatNumberOf(of.api_calls, 'call')}`,
    ),
    row('cost', formatCost(of.cost_usd)),
    row('duration', formatDuration(of.duration_seconds)),
    ...(of.rehearsal
      ? [row('model', pc.yellow('rehearsal: no model was asked, these are no training data'))]
      : []),
  ];
}

function fileLines({ files }: MergeResult, folder: string, pc: Colors): string[] {
  const { trajectories, discarded, failed } = files;
  const line = (name: string, of: { rows: number; bytes: number }) =>
    `  ${`${folder}/${name}`.padEnd(folder.length + 22)} ${formatNumberOf(of.rows, 'row')}, ${formatBytes(of.bytes)}`;
  return [
    line('trajectories.jsonl', trajectories),
    ...(discarded.rows > 0 ? [line('discarded.jsonl', discarded)] : []),
    ...(failed.rows > 0 ? [line('failed.jsonl', failed)] : []),
    `  ${folder}/statistics.json`,
    '',
    trajectories.rows > 0
      ? `${pc.dim('load it with')}  load_dataset(${JSON.stringify(folder)})`
      : pc.yellow('no trajectory was kept, so there is nothing to load yet'),
  ];
}

/** Why the run ended early and how to go on, if it did. */
export function stopLines(reason: StopReason | undefined, failed: number, pc: Colors): string[] {
  const why = reason !== undefined && 'reason' in reason ? shown(reason.reason) : '';
  const again = 'the same command with --resume goes on';
  switch (reason?.kind) {
    case 'interrupted':
      return [pc.yellow(`interrupted; everything finished is saved, ${again}`)];
    case 'refused':
      return [pc.red(`stopped, the provider refused: ${why}`), `mend that, then ${again}`];
    case 'budget':
      return [pc.yellow(`stopped: ${why}`), `raise the limit or lift it with =none, then ${again}`];
    case 'storage':
      return [
        pc.red(`stopped, results can't be stored: ${why}`),
        `nothing that was stored is lost; mend that, then ${again}`,
      ];
    case undefined:
      return failed > 0
        ? [
            pc.yellow(
              `${formatNumberOf(failed, 'prompt')} failed, see failed.jsonl; --resume tries ${failed === 1 ? 'it' : 'them'} again`,
            ),
          ]
        : [];
  }
}

function shown(reason: string): string {
  return oneSafeLine(reason, SHOWN_REASON);
}
