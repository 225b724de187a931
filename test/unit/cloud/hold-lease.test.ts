import { expect, it } from 'vitest';
import { holdLease, LEASE_MS, RENEW_MS } from '../../../src/core/cloud/hold-lease.ts';
import type { CloudRunState } from '../../../src/core/cloud/run-record.ts';
import { LeaseLostError } from '../../../src/core/ports/batch-work.ts';

/** A lease over time that passes at once; ends after `steps` renewals. */
async function hold(renew: (count: number) => CloudRunState | Error, steps: number) {
  const stop = new AbortController();
  const asked: number[] = [];
  const told: string[] = [];
  let now = 0;
  await holdLease(
    {
      clock: {
        now: () => now,
        monotonic: () => now,
        async sleep(milliseconds) {
          now += milliseconds;
          if (asked.length === steps) stop.abort();
        },
      },
      work: {
        async renew() {
          asked.push(now);
          const run = renew(asked.length);
          if (run instanceof Error) throw run;
          return { run };
        },
      },
      onRunState: (state) => told.push(state),
      onLost: ({ message }) => told.push(message),
    },
    stop.signal,
  );
  return { asked, told };
}

it('renews every 30 s and tells of each state but running', async () => {
  const states = ['running', 'pausing', 'cancelling'] as const;
  const { asked, told } = await hold((count) => states[count - 1] ?? 'running', 4);
  expect(asked).toEqual([1, 2, 3, 4].map((count) => count * RENEW_MS));
  expect(told).toEqual(['pausing', 'cancelling']);
});

it('is lost at once where another has the batch', async () => {
  const { asked, told } = await hold(() => new LeaseLostError('it is gone'), 10);
  expect(asked).toHaveLength(1);
  expect(told).toEqual(['it is gone']);
});

it('tries again where there is no answer, and is lost before the lease ends', async () => {
  const { asked, told } = await hold(
    (count) => (count === 1 ? 'running' : new Error('no net')),
    99,
  );
  expect(asked.slice(0, 4)).toEqual([30_000, 60_000, 65_000, 70_000]);
  expect(told).toEqual(['the lease could not be renewed: no net']);
  const end = asked.at(-1) ?? 0;
  expect(end).toBeLessThan(RENEW_MS + LEASE_MS);
  expect(end).toBeGreaterThan(RENEW_MS + LEASE_MS - 15_000);
});

it('goes on after a gap', async () => {
  const { told } = await hold((count) => (count % 2 === 0 ? new Error('busy') : 'running'), 20);
  expect(told).toEqual([]);
});
