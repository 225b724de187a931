/** A duration for people: `8.4 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(seconds: number): string {
  // Below what one decimal would round up to 60.0.
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** A count for people: `1,234,567`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** Money for people; `unknown` where the endpoint told no price. */
export function formatCost(usd: number | null): string {
  if (usd === null) return 'unknown';
  if (usd === 0) return '$0';
  return `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** A part of a whole in percent, `-` of nothing. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
}

/** A file size for people, in powers of 1024. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** Characters that a terminal obeys, and those that turn the direction of writing. */
const STEERING = String.raw`\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
const STEERING_RUNS = new RegExp(`[${STEERING}]+`, 'gu');
const STEERING_IN_LINES = new RegExp(`(?!\\n)[${STEERING}]`, 'gu');
const HALF_CHARACTER_AT_END = /[\ud800-\udbff]$/;

/** Text from a model, tool or dataset as one line that can't steer the terminal. */
export function oneSafeLine(text: string, length: number): string {
  if (text.length <= length) return text.replace(STEERING_RUNS, ' ');
  const start = text.slice(0, length).replace(HALF_CHARACTER_AT_END, '');
  return `${start.replace(STEERING_RUNS, ' ')}…`;
}

/** Text of several lines that can't steer the terminal. */
export function safeText(text: string): string {
  return text.replace(STEERING_IN_LINES, '·');
}

/** A line cut so that a terminal of this width does not wrap it. For text of single-width characters. */
export function fitLine(text: string, columns: number): string {
  return text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2))}…`;
}

/** `1 row`, `2 rows`. */
export function formatNumberOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
