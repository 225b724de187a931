/**
 * Name of one launch for ECS, as `clientToken` and `startedBy`: the same for every try of the same
 * launch, another for every other.
 */
export function launchToken(
  sha256: (text: string) => string,
  of: { run: string; batch: number; launch: number },
): string {
  return sha256(JSON.stringify([of.run, of.batch, of.launch]));
}
