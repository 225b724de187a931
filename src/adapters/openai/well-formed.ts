/// <reference lib="es2024.string" />

/**
 * `value` with each lone surrogate in any of its strings replaced by U+FFFD. JSON escapes lone
 * surrogates, and a server whose strings are UTF-8 refuses such an escape, and with it the call.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}

/** JSON of `value`, well-formed; the copy is made only where a lone surrogate stands in it. */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Escapes of this form are all that JSON.stringify makes of lone surrogates.
  return json.includes('\\ud') ? JSON.stringify(wellFormed(value)) : json;
}
