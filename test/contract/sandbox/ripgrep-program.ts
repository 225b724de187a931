import { findProgram } from '../../../src/adapters/sandbox/executor/find-program.ts';
import { COMMAND_PATH } from '../../support/sandbox-provider.ts';

// biome-ignore lint/style/noProcessEnv: what a test run may skip is a setting of the run, not of ours
const IS_CI = process.env['CI'] === 'true';

/** Path of ripgrep, or undefined where it is not installed. */
export const RIPGREP = findProgram('rg', COMMAND_PATH);

/**
 * Whether tests that need ripgrep are to be skipped, which is said on standard error. Never in CI:
 * there they shall fail.
 */
export function skipsWithoutRipgrep(): boolean {
  if (RIPGREP !== undefined || IS_CI) return false;
  process.stderr.write('\n*** SKIPPED: no ripgrep (rg) in PATH; apt-get install ripgrep ***\n\n');
  return true;
}
