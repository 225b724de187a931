import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../../../src/core/ports/sandbox.ts';
import { OUTPUT_TO_KEEP, shownOutput } from '../../../src/core/tools/command-output.ts';

const SECRET = 'sk-0123456789abcdef';
const redact = (text: string) => text.replaceAll(SECRET, '[secret]');
const encode = (text: string) => new TextEncoder().encode(text);

/** What a sandbox would give for this output. */
function resultOf(text: string): CommandResult {
  const bytes = encode(text);
  const { headBytes, tailBytes } = OUTPUT_TO_KEEP;
  const omittedBytes = Math.max(0, bytes.length - headBytes - tailBytes);
  return {
    head: omittedBytes === 0 ? bytes : bytes.subarray(0, headBytes),
    tail: omittedBytes === 0 ? new Uint8Array() : bytes.subarray(bytes.length - tailBytes),
    omittedBytes,
    exitCode: 0,
    stopped: 'no',
  };
}

describe('shownOutput', () => {
  it('gives up to 50,000 characters whole', () => {
    const text = '漢'.repeat(50_000);
    expect(shownOutput(resultOf(text), redact)).toBe(text);
  });

  it.each([50_001, 150_000, 1_000_000])('cuts %d characters in the middle', (length) => {
    const text = `begin${'x'.repeat(length - 8)}end`;
    const shown = shownOutput(resultOf(text), redact);
    expect(shown.slice(0, 20_000)).toBe(text.slice(0, 20_000));
    expect(shown.slice(-30_000)).toBe(text.slice(-30_000));
    expect(shown.slice(20_000, -30_000)).toMatch(
      new RegExp(`^\\n\\[… (about )?${length - 50_000} (characters|bytes) of output cut here`),
    );
  });

  it('does not cut a character in two', () => {
    const shown = shownOutput(resultOf(`a${'🙂'.repeat(200_000)}b`), redact);
    expect(shown.isWellFormed()).toBe(true);
    expect(shown).not.toContain('\\x');
  });

  it('redacts a secret, also one with colours inside', () => {
    const text = `${SECRET} sk-0123\u001b[31m456789abcdef`;
    expect(shownOutput(resultOf(text), redact)).toBe('[secret] [secret]');
  });

  it.each(['head', 'tail'] as const)(
    'shows no part of a secret cut in two at the %s, however much was redacted before',
    (side) => {
      const { headBytes, tailBytes } = OUTPUT_TO_KEEP;
      const many = `${SECRET} `.repeat(20_000);
      const cutAt = side === 'head' ? headBytes : many.length - tailBytes;
      expect(cutAt % (SECRET.length + 1)).not.toBe(0);
      const shown = shownOutput(resultOf(many), redact);
      expect(shown).toContain('[secret]');
      expect(shown).not.toMatch(/sk-|abcdef/);
    },
  );
});
