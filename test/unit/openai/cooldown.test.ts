import { expect, test } from 'vitest';
import { createCooldown } from '../../../src/adapters/openai/cooldown.ts';

function setUp() {
  let now = 0;
  const clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(milliseconds: number) {
      now += milliseconds;
    },
  };
  const cooldown = createCooldown({ clock, random: () => 0 }, 16);
  return { cooldown, time: () => now };
}

const never = () => new AbortController().signal;

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const tick = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, tick])) !== pending;
}

test('without refusals any number may enter', async () => {
  const { cooldown, time } = setUp();
  for (let call = 0; call < 100; call++) await cooldown.enter(never());
  expect(time()).toBe(0);
});

test('a burst counts once, halves the window, and its late refusals only extend the pause', async () => {
  const { cooldown, time } = setUp();
  for (let call = 0; call < 4; call++) await cooldown.enter(never());
  cooldown.refused(0, 1_000);
  cooldown.refused(0, 5_000);
  cooldown.refused(0, 2_000);
  expect(cooldown.bursts()).toBe(1);
  for (let call = 0; call < 4; call++) cooldown.leave();
  await cooldown.enter(never());
  expect(time()).toBe(5_000);
  await cooldown.enter(never());
  const third = cooldown.enter(never());
  expect(await isSettled(third)).toBe(false);
  cooldown.leave();
  expect(await isSettled(third)).toBe(true);
});

test('answers open the window again and end the row of bursts', async () => {
  const { cooldown } = setUp();
  await cooldown.enter(never());
  cooldown.refused(0, 0);
  cooldown.leave();
  for (let answer = 0; answer < 100; answer++) cooldown.answered();
  expect(cooldown.bursts()).toBe(0);
  for (let call = 0; call < 100; call++) await cooldown.enter(never());
});

test('one that waits and is aborted takes nobody else down', async () => {
  const { cooldown } = setUp();
  await cooldown.enter(never());
  cooldown.refused(0, 0);
  const controller = new AbortController();
  const aborted = cooldown.enter(controller.signal);
  const waiting = cooldown.enter(never());
  const reason = new Error('handed back');
  controller.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  expect(await isSettled(waiting)).toBe(false);
  cooldown.leave();
  expect(await isSettled(waiting)).toBe(true);
});
