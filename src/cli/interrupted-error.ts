/** A person ended a command before it had begun anything: exit code 130, message only. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}
