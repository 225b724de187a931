import { RE2JS } from 're2js';
import { invalidPattern } from './file-errors.ts';

const MAX_PATTERN = 10_000;
/** Steps a line may cost; a pattern's program size × characters looked at. */
const STEPS_A_LINE = 4_000_000;

export interface ContentPattern {
  test(line: string): boolean;
  /** Characters of a line that are looked at: the more complex the pattern, the fewer. */
  reach: number;
}

/**
 * A pattern in RE2's syntax, which matches in time linear in the text, so that no pattern can hang
 * us; `reach` bounds what one line can cost. Throws `SandboxFileError` `invalid_pattern`.
 */
export function compileContentPattern(pattern: string): ContentPattern {
  try {
    if (pattern === '' || pattern.length > MAX_PATTERN) {
      throw new RangeError(`a pattern has 1 to ${MAX_PATTERN} characters`);
    }
    const compiled = RE2JS.compile(pattern);
    const reach = Math.floor(STEPS_A_LINE / Math.max(1, compiled.programSize()));
    return {
      reach,
      test: (line) => compiled.test(line.length > reach ? line.slice(0, reach) : line),
    };
  } catch (error) {
    const expected = 'a regular expression in RE2 syntax (no look-around, no back-references)';
    throw invalidPattern(expected, pattern, error);
  }
}
