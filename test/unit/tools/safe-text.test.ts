import { describe, expect, it } from 'vitest';
import { decodeStrictly, safeText } from '../../../src/core/tools/safe-text.ts';

const encode = (text: string) => new TextEncoder().encode(text);

describe('safeText', () => {
  it.each([
    ['plain text', 'a\tb\r\nc', 'a\tb\r\nc'],
    ['other scripts', 'hällo 漢字 🙂', 'hällo 漢字 🙂'],
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a window title', '\u001b]0;title\u0007text', 'text'],
    ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['an escape that ends early', 'a\u001b[', 'a\\x1b['],
    ['NUL and bell', 'a\0b\u0007', 'a\\x00b\\x07'],
    ['C1 controls', 'a\u009bb', 'a\\x9bb'],
    ['a byte order mark', '\ufeffa', '\ufeffa'],
  ])('shows %s', (_, text, expected) => {
    expect(safeText(encode(text))).toBe(expected);
  });

  it.each([
    ['a lone byte', [0x61, 0xff, 0x62], 'a\\xffb'],
    ['a cut sequence at the end', [0x61, 0xe6, 0xbc], 'a\\xe6\\xbc'],
    ['an overlong sequence', [0xc0, 0x80], '\\xc0\\x80'],
    ['a surrogate', [0xed, 0xa0, 0x80], '\\xed\\xa0\\x80'],
    ['text around it', [0xc3, 0xa4, 0x80, 0xc3, 0xa4], 'ä\\x80ä'],
  ])('escapes what is no UTF-8: %s', (_, bytes, expected) => {
    expect(safeText(Uint8Array.from(bytes))).toBe(expected);
  });

  it('takes time linear in hostile text', () => {
    const started = performance.now();
    safeText(encode('\u001b]'.repeat(100_000)));
    safeText(encode(`\u001b[${'0'.repeat(200_000)}`));
    safeText(new Uint8Array(200_000).fill(0xe6));
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});

describe('decodeStrictly', () => {
  it('refuses what is no UTF-8 and keeps a byte order mark', () => {
    expect(decodeStrictly(Uint8Array.of(0xff))).toBeUndefined();
    expect(decodeStrictly(encode('\ufeffa'))).toBe('\ufeffa');
  });
});
