const NESTING: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };

/**
 * The members of a JSON object by key, each value as the exact text it was written in, so that
 * numbers beyond double precision and `__proto__` keys survive. Of equal keys the last counts.
 * `text` must be a valid JSON object: anything else gives an undefined result.
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let keyStart = text.indexOf('"');
  while (keyStart !== -1) {
    const keyEnd = stringEnd(text, keyStart);
    const valueStart = text.indexOf(':', keyEnd) + 1;
    const valueEnd = memberEnd(text, valueStart);
    const key: unknown = JSON.parse(text.slice(keyStart, keyEnd));
    members.set(String(key), text.slice(valueStart, valueEnd).trim());
    keyStart = text.indexOf('"', valueEnd);
  }
  return members;
}

/** Index of the comma or brace that ends the value beginning at `start`. */
function memberEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text.charAt(at);
    if (depth === 0 && (character === ',' || character === '}')) return at;
    depth += NESTING[character] ?? 0;
    at = character === '"' ? stringEnd(text, at) : at + 1;
  }
  return at;
}

/** Index after the closing quote of the string whose opening quote is at `start`. */
function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
