import { writeFileSync } from 'node:fs';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';
import { quoted } from './quoted.ts';

/** Linux takes 128 KiB in one variable; longer commands go by a file. */
const MAX_IN_ENVIRONMENT = 100_000;

/**
 * What to hand to a shell by an environment variable: the command itself, or one that reads it from
 * a file, which is written then. Throws `SandboxLostError` where there is no room for it.
 */
export function commandText(command: string, file: string): string {
  if (Buffer.byteLength(command) <= MAX_IN_ENVIRONMENT) return command;
  try {
    writeFileSync(file, command);
  } catch (error) {
    throw new SandboxLostError(`no room for a command's text: ${String(error)}`, { cause: error });
  }
  return `. ${quoted(file)}`;
}
