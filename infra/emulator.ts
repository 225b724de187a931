import type { Settings } from './settings.ts';

/**
 * All in which the stack differs for an emulator: what the dispatcher is told. It then registers task
 * definitions as an emulator runs them; `folder` of the emulator's machine is where it keeps volumes.
 */
export function platformEnvironment(
  settings: Pick<Settings, 'platform' | 'emulatorFolder'>,
): { PLATFORM: string } & Record<string, string> {
  const { platform, emulatorFolder } = settings;
  if (platform === 'aws') return { PLATFORM: platform };
  return { PLATFORM: platform, EMULATOR_FOLDER: emulatorFolder };
}
