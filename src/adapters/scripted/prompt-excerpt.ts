const READ_LENGTH = 1000;
const EXCERPT_CHARACTERS = 160;

/**
 * The beginning of a prompt on one line: at most 160 characters, well-formed, without control
 * characters and double quotes. Costs the same for a prompt of any size. Never empty.
 */
export function promptExcerpt(prompt: string): string {
  const line = prompt
    .slice(0, READ_LENGTH)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .replaceAll('"', "'")
    .trim();
  return [...line].slice(0, EXCERPT_CHARACTERS).join('') || '(nothing that can be shown)';
}
