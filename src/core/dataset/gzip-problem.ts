/** What is wrong with packed bytes, from the error of the unpacking; undefined for another error. */
export function gzipProblem(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'Z_BUF_ERROR') return 'expected a whole gzip file, got one that ends early';
  if (!code.startsWith('Z_') || !(error instanceof Error)) return undefined;
  return `expected a gzip file, got a damaged one (${error.message})`;
}
