import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, REDACTED } from '../../../src/core/agent/redact.ts';

describe('createRedactor', () => {
  it('takes each secret out wherever it stands, as JSON spells it too', () => {
    const redact = createRedactor(['s3cr3t-key', 'with "quotes" and \\']);
    expect(redact('a s3cr3t-key, s3cr3t-key')).toBe(`a ${REDACTED}, ${REDACTED}`);
    expect(redact(JSON.stringify({ output: 'with "quotes" and \\' }))).toBe(
      `{"output":"${REDACTED}"}`,
    );
  });

  it('leaves short values alone', () => {
    expect(createRedactor(['none', ''])('none of it')).toBe('none of it');
  });

  it('replaces the longer of two secrets whole', () => {
    expect(createRedactor(['abcdefgh', 'abcdefgh-ijkl'])('x abcdefgh-ijkl y')).toBe(
      `x ${REDACTED} y`,
    );
  });

  it('lets no secret through in any text', () => {
    const secret = fc.string({ minLength: 8, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(secret, { maxLength: 3 }), fc.string(), fc.string(), (all, a, b) => {
        const clean = createRedactor(all)([a, ...all, b].join(''));
        for (const of of all) if (!REDACTED.includes(of)) expect(clean).not.toContain(of);
      }),
    );
  });
});
