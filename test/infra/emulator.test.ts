import { expect, test } from 'vitest';
import { synthesise } from './synthesise.ts';

const FOLDER = '/var/tmp/volumes';

test('an emulator’s template differs in what the dispatcher is told, and in nothing else', () => {
  const production = JSON.stringify(synthesise().toJSON());
  const emulator = synthesise({ platform: 'emulator', emulatorFolder: FOLDER });
  const told = `"PLATFORM":"emulator","EMULATOR_FOLDER":"${FOLDER}"`;
  const [before, after, ...more] = JSON.stringify(emulator.toJSON()).split(told);
  expect(more).toEqual([]);
  expect(`${before}"PLATFORM":"aws"${after}`).toBe(production);
});

test('production’s template has nothing of an emulator', () => {
  const text = JSON.stringify(synthesise().toJSON());
  expect(text).not.toMatch(/emulator|AWS_ENDPOINT_URL|localhost|127\.0\.0\.1|sourcePath|:4566/i);
});
