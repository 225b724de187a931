import { valueShape } from '../../../src/core/run/flag-values.ts';
import type { RunConfigKey } from '../../../src/core/run/run-config.ts';

/** A right value of a setting: as text of a flag, and as the value that it means. */
export function goodValue(key: RunConfigKey): { text: string; value: unknown } {
  const { type, enum: choices, format, minimum = 0 } = valueShape(key);
  if (choices !== undefined) return { text: choices.at(-1) ?? '', value: choices.at(-1) };
  if (key === 'run_name') return { text: 'some-run', value: 'some-run' };
  if (format === 'uri') return { text: 'http://127.0.0.1:1/v1', value: 'http://127.0.0.1:1/v1' };
  switch (type) {
    case 'integer': {
      const value = Math.max(7, minimum);
      return { text: String(value), value };
    }
    case 'number':
      return { text: '1.5', value: 1.5 };
    case 'boolean':
      return { text: 'true', value: true };
    case 'array':
      return { text: 'terminal, file', value: ['terminal', 'file'] };
    case 'object':
      return { text: '{"a":{"b":[1]}}', value: { a: { b: [1] } } };
    default:
      return { text: 'some-text', value: 'some-text' };
  }
}

/** A text that the flag can't take; undefined where it takes every one. */
export function badText(key: RunConfigKey): string | undefined {
  const { type, enum: choices, format } = valueShape(key);
  if (choices !== undefined || format === 'uri' || type === 'boolean') return 'perhaps';
  if (key === 'run_name') return '../up';
  if (type === 'array') return key === 'toolsets' ? '' : undefined;
  if (type === 'integer') return '1.5';
  if (type === 'number') return '-1';
  if (type === 'object') return '[1]';
  return '';
}

/** A JSON value that a config file can't have there. */
export function badJson(key: RunConfigKey): unknown {
  return valueShape(key).type === 'string' ? 12 : 'no such thing';
}
