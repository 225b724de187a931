const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
/** Colours, cursor moves, window titles: what programs write for a terminal. */
const TERMINAL_SEQUENCE = new RegExp(
  [
    `${ESCAPE}\\[[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)`,
    `${ESCAPE}[()*+][0-9A-Za-z]`,
    `${ESCAPE}[=>NOc78DEHM]`,
  ].join('|'),
  'g',
);
const CONTROL = /[^\P{Cc}\n\t\r]/gu;

/**
 * Bytes as text that is safe to show and to store: bytes that are not UTF-8 and control characters
 * other than newline, tab and carriage return become `\xNN`, terminal sequences are left out.
 */
export function safeText(bytes: Uint8Array): string {
  return withoutControls(decode(bytes));
}

export function withoutControls(text: string): string {
  return text
    .replace(TERMINAL_SEQUENCE, '')
    .replace(CONTROL, (character) => escapeByte(character.charCodeAt(0)));
}

/** The text, or undefined where the bytes are not UTF-8. A byte order mark is kept. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): string {
  const whole = decodeStrictly(bytes);
  if (whole !== undefined) return whole;
  let text = '';
  let validFrom = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      text += strict.decode(bytes.subarray(validFrom, at)) + escapeByte(bytes[at] ?? 0);
      validFrom = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + strict.decode(bytes.subarray(validFrom));
}

/** Length of the UTF-8 sequence that begins at `at`; 0 where none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = announcedLength(first);
  if (length < 2) return length;
  const [low, high] = secondByteRange(first);
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return 0;
  const rest = bytes.subarray(at + 2, at + length);
  return rest.length === length - 2 && rest.every((byte) => (byte & 0xc0) === 0x80) ? length : 0;
}

function announcedLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** Narrower where the full range would be overlong, a surrogate or beyond Unicode. */
function secondByteRange(first: number): readonly [number, number] {
  switch (first) {
    case 0xe0:
      return [0xa0, 0xbf];
    case 0xed:
      return [0x80, 0x9f];
    case 0xf0:
      return [0x90, 0xbf];
    case 0xf4:
      return [0x80, 0x8f];
    default:
      return [0x80, 0xbf];
  }
}

function escapeByte(value: number): string {
  return `\\x${value.toString(16).padStart(2, '0')}`;
}
