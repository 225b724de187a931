import { expect, test } from 'vitest';
import { synthesise } from './synthesise.ts';

const FOLDER = '/var/tmp/volumes';

test('an emulator’s template differs in what the dispatcher is told, and in nothing else', () => {
  const production = synthesise().toJSON();
  const emulator = synthesise({ platform: 'emulator', emulatorFolder: FOLDER }).toJSON();
  const told = Object.values(emulator['Resources'] as Record<string, Resource>).flatMap(
    ({ Properties }) => Properties?.Environment?.Variables ?? [],
  );
  const dispatcher = told.find(({ PLATFORM }) => PLATFORM === 'emulator');
  expect(dispatcher).toMatchObject({ EMULATOR_FOLDER: FOLDER });
  if (dispatcher === undefined) return;
  dispatcher['PLATFORM'] = 'aws';
  delete dispatcher['EMULATOR_FOLDER'];
  expect(emulator).toEqual(production);
});

test('production’s template has nothing of an emulator', () => {
  const text = JSON.stringify(synthesise().toJSON());
  expect(text).not.toMatch(/emulator|AWS_ENDPOINT_URL|localhost|127\.0\.0\.1|"host"|:4566/i);
});

interface Resource {
  Properties?: { Environment?: { Variables?: Record<string, string> } };
}
