/** What the Docker daemon said, without the client's "(HTTP code 404) no such container - ". */
export function dockerWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { json } = error as Error & { json?: unknown };
  if (typeof json === 'object' && json !== null && 'message' in json) return String(json.message);
  // Where the answer was a stream, the client has put its words in front all the same.
  return error.message.replace(/^\(HTTP code \d+\) [^-]*- /, '').trim();
}

export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
