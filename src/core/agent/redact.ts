/** A shorter secret would be found in ordinary text and spoil the data. */
const SHORTEST_SECRET = 8;

export const REDACTED = '[redacted]';

/**
 * A function that replaces each secret, by value, in a text. Secrets under 8 characters are left
 * alone: `x` or `none` given as the key of a local server is no secret.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    values.add(secret);
    // As it stands inside JSON text, such as a tool result.
    values.add(JSON.stringify(secret).slice(1, -1));
  }
  // Longest first, so that a secret that holds another one is replaced whole.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const value of ordered) {
      if (clean.includes(value)) clean = clean.replaceAll(value, REDACTED);
    }
    return clean;
  };
}
