import {
  buildSandboxRuntime,
  type SandboxRuntimeDeps,
} from '../../adapters/sandbox/docker/build-runtime.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

/**
 * The folder of the sandbox runtime, made if it is not there. Throws `UsageError` where it can't be
 * made.
 */
export async function makeSandboxRuntime(
  wiring: Wiring,
  by: Pick<SandboxRuntimeDeps, 'docker' | 'images' | 'signal'>,
): Promise<string> {
  try {
    return await buildSandboxRuntime({
      ...by,
      ...wiring.sandboxRuntime,
      cacheFolder: wiring.cacheFolder,
      buildArguments: baseImages(wiring.env),
    });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `the sandbox runtime can't be made: ${words}. TALARIA_NODE_IMAGE and TALARIA_BUSYBOX_IMAGE may name other images to take Node and busybox from`,
      { cause: error },
    );
  }
}

function baseImages(env: Wiring['env']): Record<string, string> {
  const { TALARIA_NODE_IMAGE: node, TALARIA_BUSYBOX_IMAGE: busybox } = env;
  return {
    ...(node !== undefined && { NODE_IMAGE: node }),
    ...(busybox !== undefined && { BUSYBOX_IMAGE: busybox }),
  };
}
