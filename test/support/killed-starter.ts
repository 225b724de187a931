import type { StarterDeps } from '../../functions/starter/starter.ts';

/** The process is gone: nothing that it would still do is done. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

/**
 * Deps of a starter that is killed after its write number `at` (from 1), which is before the next one:
 * nobody hears of its success. `writes` says what it came to.
 */
export function killAt(deps: StarterDeps, at: number) {
  const writes: string[] = [];
  let isDead = false;

  /** A port whose calls, but for the reads, count as writes; none is made once it is dead. */
  function mortal<T extends object>(port: T, name: string, reads: readonly string[]): T {
    const called = (property: string, make: () => unknown) => {
      if (isDead) throw new KilledError(`${name}.${property}`);
      return reads.includes(property) ? make() : write(`${name}.${property}`, make);
    };
    return new Proxy(port, {
      get(target, property, receiver) {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value !== 'function') return value;
        return (...of: unknown[]) => called(String(property), () => value.apply(target, of));
      },
    });
  }

  const files = mortal(deps.files, 'files', ['versionOf', 'dataset', 'input', 'openInput', 'text']);

  async function write(call: string, make: () => unknown): Promise<unknown> {
    writes.push(call);
    const isLast = writes.length === at;
    if (isLast) isDead = true;
    const result = await make();
    if (isLast) throw new KilledError(call);
    return result;
  }

  const killed: StarterDeps = {
    ...deps,
    claims: mortal(deps.claims, 'claims', ['read']),
    files: {
      versionOf: files.versionOf,
      dataset: files.dataset,
      input: files.input,
      text: files.text,
      put: files.put,
      replace: files.replace,
      remove: files.remove,
      openInput: (key) => mortal(files.openInput(key), 'input', ['write', 'abort']),
    },
    planned: mortal(deps.planned, 'planned', []),
    batches: mortal(deps.batches, 'batches', ['read', 'open', 'attempts']),
    queue: mortal(deps.queue, 'queue', []),
    nudgeDispatcher: () => write('nudge', deps.nudgeDispatcher) as Promise<void>,
    mergeRun: (run) => write('merge', () => deps.mergeRun(run)) as Promise<void>,
  };
  return { deps: killed, writes, wasKilled: () => isDead };
}
