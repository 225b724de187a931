import { createLogUpdate } from 'log-update';
import pc from 'picocolors';
import type { Clock } from '../../core/ports/clock.ts';
import type { RunObserver } from '../../core/ports/observer.ts';
import { outcomeClass } from '../../core/trajectory/outcome.ts';
import type { Usage } from '../../core/trajectory/trajectory.ts';
import { formatCost, formatCount, formatDuration } from './format.ts';

/** How often a terminal is redrawn, and a pipe gets a line, in milliseconds. */
const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;
const BAR_WIDTH = 24;

export interface ProgressDeps {
  stream: NodeJS.WriteStream;
  clock: Clock;
  /** Prompts that this pass is to run. */
  total: number;
  rehearsal: boolean;
  spent(): Usage;
}

export interface Progress {
  observer: Pick<RunObserver, 'attemptStarted' | 'attemptEnded' | 'handedBack'>;
  /** Prints a line above the progress. */
  line(text: string): void;
  /** The last state stays; nothing is drawn afterwards. */
  stop(): void;
}

/** Live progress of a pass: redrawn in place on a terminal, now and then a line in a pipe. */
export function startProgress(deps: ProgressDeps): Progress {
  const { stream, clock, total } = deps;
  const from = clock.monotonic();
  const counts = { ended: 0, completed: 0, partial: 0, discarded: 0, failed: 0, retried: 0 };
  let inFlight = 0;
  const live = stream.isTTY === true;
  const draw = live ? createLogUpdate(stream) : undefined;

  function status(): string[] {
    const seconds = (clock.monotonic() - from) / 1000;
    const rate = seconds > 0 ? counts.ended / seconds : 0;
    const left = rate > 0 ? formatDuration((total - counts.ended) / rate) : '-';
    const done = counts.completed + counts.partial;
    const spent = deps.spent();
    const retried = counts.retried > 0 ? `, ${formatCount(counts.retried)} tried again` : '';
    return [
      `${formatCount(counts.ended)}/${formatCount(total)} prompts · ${done} done, ${counts.failed} failed, ${counts.discarded} discarded${retried} · ${inFlight} in flight`,
      `${rate.toFixed(rate < 10 ? 2 : 1)}/s · ${formatDuration(seconds)} · ETA ${left} · ${formatCount(spent.total_tokens)} tokens · cost ${formatCost(spent.cost_usd)}`,
    ];
  }

  function redraw() {
    const [counted, rates] = status();
    const share = total === 0 ? 1 : counts.ended / total;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = pc.green('━'.repeat(filled)) + pc.dim('━'.repeat(BAR_WIDTH - filled));
    const mark = deps.rehearsal ? `  ${pc.yellow('rehearsal')}` : '';
    draw?.(`${bar} ${Math.floor(share * 100)} %${mark}\n${counted}\n${pc.dim(rates ?? '')}`);
  }

  const plain = () => stream.write(`${status().join(' · ')}\n`);
  const timer = setInterval(live ? redraw : plain, live ? REDRAW_MS : PIPE_LINE_MS);
  timer.unref();
  if (live) redraw();

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
    line(text) {
      draw?.clear();
      stream.write(`${text}\n`);
      if (live) redraw();
    },
    stop() {
      clearInterval(timer);
      if (live) {
        redraw();
        draw?.done();
      } else {
        plain();
      }
    },
  };
}
