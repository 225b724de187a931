/** An object of the bucket is missing or not what Talaria wrote: its key, and what is wrong. */
export class StoredObjectError extends Error {
  override readonly name = 'StoredObjectError';
  readonly key: string;

  constructor(key: string, problem: string, options?: ErrorOptions) {
    super(`${key}: ${problem}`, options);
    this.key = key;
  }
}
