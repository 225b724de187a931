import type { DispatchDeps } from './dispatch-deps.ts';

/** Does one of many pieces of work: what fails there is told, and holds up none of the others. */
export async function guarded(
  deps: Pick<DispatchDeps, 'log'>,
  about: Record<string, unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log('failed', { ...about, error: String(error).slice(0, 500) }, 'error');
  }
}
