const SHOWN_LENGTH = 160;

/**
 * A text from outside, fit for a message: at most 160 UTF-16 units, on one line, without control
 * characters that a terminal would obey.
 */
export function printable(text: string): string {
  const shown = text.slice(0, SHOWN_LENGTH).replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, '·');
  return text.length > SHOWN_LENGTH ? `${shown}…` : shown;
}

/** What kind of JSON value came, with the value itself where that is short. */
export function describeJson(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return `the ${typeof value} ${String(value)}`;
}
