/**
 * What is wrong with a dataset row's `cwd` for a process sandbox, or undefined: it has to lie
 * inside the sandbox's own folder, so it is relative and never goes up.
 */
export function sandboxCwdProblem(cwd: string): string | undefined {
  const got = `got ${JSON.stringify(cwd.slice(0, 200))}`;
  if (cwd.includes('\0')) return `expected a folder without NUL bytes, ${got}`;
  if (cwd.startsWith('/')) {
    return `expected a folder relative to the sandbox's own, ${got}; an absolute one needs an image`;
  }
  if (cwd.split('/').includes('..')) return `expected a folder without "..", ${got}`;
  return undefined;
}
