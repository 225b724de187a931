import { InterruptedError } from './interrupted-error.ts';

/** Wrong use, found by the command line itself: exit code 2, message only. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Errors that a person can mend by calling again differently. */
const WRONG_USE = new Set([
  'UsageError',
  'ConfigError',
  'DatasetError',
  'DistributionUnavailableError',
  'FrozenSettingError',
  'RunLockedError',
  'StackNotFoundError',
]);

/** Exit code of an error that ended a command: 2 for wrong use, 130 for a signal, else 1. */
export function exitCodeOf(error: unknown): 1 | 2 | 130 {
  if (error instanceof InterruptedError) return 130;
  return error instanceof Error && WRONG_USE.has(error.name) ? 2 : 1;
}
