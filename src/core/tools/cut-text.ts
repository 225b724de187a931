/** The first `length` characters, none cut in two. */
export function firstOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text, length - 1) ? length - 1 : length);
}

/** The last `length` characters, none cut in two. */
export function lastOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start);
}

/** A line cut to `length` characters, saying how many are left out. */
export function cutLine(line: string, length: number): string {
  if (line.length <= length) return line;
  const kept = firstOf(line, length);
  return `${kept}… [${line.length - kept.length} characters cut]`;
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}
