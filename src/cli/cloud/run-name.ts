import { ConfigError, expected } from '../../core/run/flag-values.ts';
import { RUN_NAME } from '../../core/run/run-config.ts';

/** The name of a run as it was given. Throws `ConfigError` for one that is none. */
export function checkedRunName(given: string): string {
  if (RUN_NAME.test(given)) return given;
  throw new ConfigError(`run: expected ${expected('run_name')}, got ${JSON.stringify(given)}`);
}
