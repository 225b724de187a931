import { createLogUpdate } from 'log-update';
import type { Clock } from '../../core/ports/clock.ts';
import type { RunObserver } from '../../core/ports/observer.ts';
import { outcomeClass } from '../../core/trajectory/outcome.ts';
import type { Usage } from '../../core/trajectory/trajectory.ts';
import { fitLine, formatCost, formatCount, formatDuration } from './format.ts';
import type { Terminal } from './terminal.ts';

/** How often a terminal is redrawn, and a pipe gets a line, in milliseconds. */
const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;
const BAR_WIDTH = 24;
const SHORTEST_BAR = 4;
const SEPARATOR = ' · ';

export interface ProgressDeps {
  terminal: Terminal;
  clock: Clock;
  /** Prompts that this pass is to run. */
  total: number;
  rehearsal: boolean;
  spent(): Usage;
}

export interface Progress {
  observer: Pick<RunObserver, 'attemptStarted' | 'attemptEnded' | 'handedBack'>;
  /** The last state stays; nothing is drawn afterwards. */
  stop(): void;
}

/** Live progress of a pass: redrawn in place on a terminal, now and then a line in a pipe. */
export function startProgress(deps: ProgressDeps): Progress {
  const { terminal, clock, total } = deps;
  const { stream, colors } = terminal;
  const isLive = terminal.isLive && total > 0;
  const from = clock.monotonic();
  const counts = { ended: 0, completed: 0, partial: 0, discarded: 0, failed: 0, retried: 0 };
  let inFlight = 0;
  const draw = isLive ? createLogUpdate(stream) : undefined;

  function countText(): string {
    const { ended, completed, partial, failed, discarded, retried } = counts;
    return [
      `${formatCount(ended)}/${formatCount(total)} prompts`,
      [
        `${formatCount(completed + partial)} done`,
        `${formatCount(failed)} failed`,
        `${formatCount(discarded)} discarded`,
        ...(retried > 0 ? [`${formatCount(retried)} tried again`] : []),
      ].join(', '),
      ...(inFlight > 0 ? [`${formatCount(inFlight)} in flight`] : []),
    ].join(SEPARATOR);
  }

  function rateText(): string {
    const seconds = (clock.monotonic() - from) / 1000;
    const rate = seconds > 0 ? counts.ended / seconds : 0;
    const left = total - counts.ended;
    const spent = deps.spent();
    return [
      `${rate.toFixed(rate < 10 ? 2 : 1)}/s`,
      formatDuration(seconds),
      ...(left > 0 ? [`ETA ${rate > 0 ? formatDuration(left / rate) : '-'}`] : []),
      `${formatCount(spent.total_tokens)} tokens`,
      `cost ${formatCost(spent.cost_usd)}`,
    ].join(SEPARATOR);
  }

  function bar(columns: number): string {
    const share = total === 0 ? 1 : counts.ended / total;
    const percent = ` ${Math.floor(share * 100)} %`;
    const mark = deps.rehearsal ? '  rehearsal' : '';
    const width = Math.min(BAR_WIDTH, columns - percent.length - mark.length - 1);
    if (width < SHORTEST_BAR) return fitLine(percent.trim(), columns);
    const filled = Math.round(share * width);
    const drawn = colors.green('━'.repeat(filled)) + colors.dim('━'.repeat(width - filled));
    return `${drawn}${percent}${colors.yellow(mark)}`;
  }

  /** No line is as wide as the terminal: wrapped ones could not be redrawn in place. */
  function redraw() {
    const { columns } = stream;
    const counted = fitLine(countText(), columns);
    draw?.(`${bar(columns)}\n${counted}\n${colors.dim(fitLine(rateText(), columns))}`);
  }

  function plain() {
    if (total > 0) stream.write(`${countText()}${SEPARATOR}${rateText()}\n`);
  }

  const timer = setInterval(isLive ? redraw : plain, isLive ? REDRAW_MS : PIPE_LINE_MS);
  timer.unref();
  if (isLive) redraw();
  terminal.lineThrough(line);

  function line(text: string) {
    draw?.clear();
    stream.write(`${text}\n`);
    if (isLive) redraw();
  }

  return {
    observer: {
      attemptStarted() {
        inFlight += 1;
      },
      attemptEnded(_attempt, row, final) {
        inFlight -= 1;
        if (!final) {
          counts.retried += 1;
          return;
        }
        counts.ended += 1;
        counts[outcomeClass(row.outcome)] += 1;
      },
      handedBack() {
        inFlight -= 1;
      },
    },
    stop() {
      clearInterval(timer);
      terminal.lineThrough(undefined);
      if (isLive) {
        redraw();
        draw?.done();
      } else {
        plain();
      }
    },
  };
}
