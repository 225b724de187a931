import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../src/core/work/slots.ts';

describe('createSlots', () => {
  it('has never more at work than there are places, leaves none idle, and starts in order', async () => {
    const size = fc.integer({ min: 1, max: 5 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), size, fc.nat(15), async (scheduler, places, jobs) => {
        const slots = createSlots(places);
        const started: number[] = [];
        let working = 0;
        let most = 0;
        const all = Array.from({ length: jobs }, (_, job) =>
          slots.run(async () => {
            started.push(job);
            working += 1;
            most = Math.max(most, working);
            await scheduler.schedule(Promise.resolve());
            working -= 1;
          }),
        );
        await scheduler.waitFor(Promise.all(all));
        expect(most).toBe(Math.min(places, jobs));
        expect(started).toEqual(Array.from({ length: jobs }, (_, job) => job));
      }),
    );
  });

  it('gives the place back when work throws', async () => {
    const slots = createSlots(1);
    await expect(slots.run(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await slots.run(async () => 'ran')).toBe('ran');
  });

  it('is free only once nobody waits for a place', async () => {
    const slots = createSlots(1);
    const ends: (() => void)[] = [];
    const job = () => slots.run(() => new Promise<void>((resolve) => ends.push(resolve)));
    const jobs = [job(), job()];
    let isFree = false;
    const free = slots.free().then(() => {
      isFree = true;
    });
    ends.shift()?.();
    await jobs[0];
    expect(isFree).toBe(false);
    ends.shift()?.();
    await Promise.all([...jobs, free]);
    expect(isFree).toBe(true);
  });
});
