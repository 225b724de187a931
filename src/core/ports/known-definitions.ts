/** Task definitions that were registered, by the hash of their content. */
export interface KnownDefinitions {
  find(hash: string): Promise<{ arn: string; usedAt: number } | undefined>;
  /** Resolves to the ARN that holds: an earlier one's stays. */
  keep(hash: string, arn: string, now: number): Promise<string>;
  used(hash: string, now: number): Promise<void>;
  /** Only if it was not used after `usedAt`; false where it was. */
  forget(hash: string, usedAt: number): Promise<boolean>;
}
