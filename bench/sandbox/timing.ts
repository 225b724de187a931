import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Standard output of a program; throws where it fails, or takes too long. */
export async function outputOf(
  file: string,
  args: readonly string[],
  timeout = 120_000,
): Promise<string> {
  const options = { maxBuffer: 1e8, timeout, killSignal: 'SIGKILL' } as const;
  return (await run(file, args, options)).stdout.trim();
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Quarter points, rounded. */
export function summary(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { count: values.length, p25: at(0.25), median: at(0.5), p75: at(0.75) };
}

export function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** Does it `times` times, `atOnce` at a time. */
export async function many(
  times: number,
  atOnce: number,
  work: () => Promise<void>,
): Promise<void> {
  let left = times;
  const workers = Array.from({ length: atOnce }, async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  });
  await Promise.all(workers);
}
