import { type Bench, commandOf, nextSpec } from './open-bench.ts';
import { milliseconds, round, summary } from './timing.ts';

const A_ROUND = 5;
/** The time that a prompt before takes, in which the next sandbox starts. */
const THINKING_MS = 2_000;

/** Milliseconds that a prompt waits for its sandbox, started when it asks and started ahead. */
export async function waitForSandbox({ provider, ahead }: Bench, rounds: number) {
  const { signal } = new AbortController();
  const early = ahead({ most: 1, startsAtOnce: 1, hasRoom: () => true, signal });
  const cold: number[] = [];
  const warm: number[] = [];
  for (let at = 0; at < rounds * A_ROUND; at += 1) {
    for (const [from, times] of [
      [provider, cold],
      [early, warm],
    ] as const) {
      const spec = nextSpec();
      from.expect(spec);
      await new Promise((resolve) => setTimeout(resolve, THINKING_MS));
      const opening = from.open(spec);
      times.push(await milliseconds(() => opening));
      const sandbox = await opening;
      await sandbox.run(commandOf('true'));
      await sandbox.close();
    }
  }
  await early.close();
  const started = summary(cold);
  const waiting = summary(warm);
  return { started, waiting, shorter_by: round(started.median / waiting.median) };
}
