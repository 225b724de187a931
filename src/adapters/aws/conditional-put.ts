const TRIES = 5;

/** Makes a conditional put; false where its condition does not hold. */
export async function whereUnchanged(put: () => Promise<unknown>): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    const fault = await put().then(() => undefined, faultOf);
    if (fault === undefined) return true;
    if (fault.name === 'PreconditionFailed' || fault.name === 'NoSuchKey') return false;
    // Somebody else puts it right now.
    if (fault.name !== 'ConditionalRequestConflict' || tried === TRIES) throw fault;
  }
}

function faultOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
