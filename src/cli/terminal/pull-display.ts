import { createLogUpdate } from 'log-update';
import type { PullObserver } from '../../adapters/sandbox/docker/image-check.ts';
import type { PullProgress } from '../../adapters/sandbox/docker/pull-events.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { fitLine, formatBytes, formatDuration, oneSafeLine } from './format.ts';
import type { Terminal } from './terminal.ts';

const REDRAW_MS = 100;
/** Longest image name shown, in characters. */
const SHOWN_NAME = 200;

export interface PullDisplay {
  observer: PullObserver;
  /** Nothing is redrawn afterwards: a later pull is told by two lines. */
  stop(): void;
}

interface Pull {
  from: number;
  progress: PullProgress | undefined;
}

/**
 * Pulls as they go on: on a terminal a line each, redrawn in place; in a pipe a line at the start of
 * each. Its end is a line on both.
 */
export function startPullDisplay(terminal: Terminal, clock: Clock): PullDisplay {
  const { stream, colors, isLive } = terminal;
  const pulls = new Map<string, Pull>();
  const draw = isLive ? createLogUpdate(stream) : undefined;
  let isStopped = false;

  function redraw() {
    const lines = [...pulls].map(([name, { progress }]) =>
      colors.dim(fitLine(pullText(name, progress), stream.columns)),
    );
    if (lines.length > 0) draw?.(lines.join('\n'));
  }

  function line(text: string) {
    if (isStopped) {
      terminal.line(text);
      return;
    }
    draw?.clear();
    stream.write(`${text}\n`);
    if (isLive) redraw();
  }

  const timer = isLive ? setInterval(redraw, REDRAW_MS) : undefined;
  timer?.unref();
  terminal.lineThrough(line);

  return {
    observer: {
      started(name) {
        pulls.set(name, { from: clock.monotonic(), progress: undefined });
        if (isLive && !isStopped) redraw();
        else line(pullText(name, undefined));
      },
      advanced(name, progress) {
        const pull = pulls.get(name);
        if (pull !== undefined) pull.progress = progress;
      },
      ended(name, isPulled) {
        const pull = pulls.get(name);
        pulls.delete(name);
        const seconds = pull === undefined ? 0 : (clock.monotonic() - pull.from) / 1000;
        line(endText(name, isPulled, { seconds, bytes: pull?.progress?.totalBytes ?? 0 }));
      },
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      terminal.lineThrough(undefined);
      draw?.clear();
      // Shows the cursor again.
      draw?.done();
    },
  };
}

function pullText(image: string, progress: PullProgress | undefined): string {
  const name = oneSafeLine(image, SHOWN_NAME);
  if (progress === undefined || progress.totalBytes === 0) return `pulling ${name}`;
  const { phase, doneBytes, totalBytes } = progress;
  // Names may be longer than the screen is wide.
  const verb = phase === 'extracting' ? 'unpacking' : 'pulling';
  return `${verb} ${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}: ${name}`;
}

function endText(
  image: string,
  isPulled: boolean,
  { seconds, bytes }: { seconds: number; bytes: number },
): string {
  const name = oneSafeLine(image, SHOWN_NAME);
  if (!isPulled) return `not pulled: ${name}`;
  return `pulled ${name}: ${bytes === 0 ? '' : `${formatBytes(bytes)} in `}${formatDuration(seconds)}`;
}
