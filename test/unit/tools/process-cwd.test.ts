import { describe, expect, it } from 'vitest';
import { sandboxCwdProblem } from '../../../src/core/work/process-cwd.ts';

describe('sandboxCwdProblem', () => {
  it.each(['', 'a', 'a/b', './a', '..a', 'a..b/...'])('takes %j', (cwd) => {
    expect(sandboxCwdProblem(cwd)).toBeUndefined();
  });

  it.each(['/', '/a', '..', '../a', 'a/..', 'a/../b', 'a\0'])('refuses %j', (cwd) => {
    expect(sandboxCwdProblem(cwd)).toMatch(/^expected a folder .*got "/);
  });
});
