import { createLogUpdate } from 'log-update';
import type { Clock } from '../../core/ports/clock.ts';
import { fitLine, formatBytes, formatDuration } from '../terminal/format.ts';
import type { Terminal } from '../terminal/terminal.ts';

const REDRAW_MS = 100;
const PIPE_LINE_MS = 5_000;

/** How far an upload or a download is. */
export interface TransferProgress {
  add(bytes: number): void;
  stop(): void;
}

/** Redrawn in place on a terminal, now and then a line in a pipe. */
export function startTransferProgress(
  what: string,
  total: number,
  { terminal, clock }: { terminal: Terminal; clock: Clock },
): TransferProgress {
  const { stream, isLive } = terminal;
  const from = clock.monotonic();
  let done = 0;
  const draw = isLive ? createLogUpdate(stream) : undefined;

  function text(): string {
    const seconds = (clock.monotonic() - from) / 1000;
    const rate = seconds > 0 ? done / seconds : 0;
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
    return [
      `${what} ${percent} %`,
      `${formatBytes(done)} of ${formatBytes(total)}`,
      `${formatBytes(rate)}/s`,
      ...(done < total && rate > 0 ? [`ETA ${formatDuration((total - done) / rate)}`] : []),
    ].join(' · ');
  }

  let isShown = false;
  const show = () => {
    isShown = true;
    if (draw === undefined) stream.write(`${text()}\n`);
    else draw(fitLine(text(), stream.columns));
  };
  const timer = setInterval(show, isLive ? REDRAW_MS : PIPE_LINE_MS);
  timer.unref();
  return {
    add(bytes) {
      done += bytes;
    },
    stop() {
      clearInterval(timer);
      // In a pipe nothing is said of what took no time.
      if (isLive || isShown) show();
      draw?.done();
    },
  };
}
