import type Docker from 'dockerode';
import { z } from 'zod';
import { ImageUnavailableError, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { dockerWords, statusCode } from './docker-words.ts';
import { interruptible } from './interruptible.ts';

/** The longest that the daemon is waited for where it only has to look. */
const LOOK_MS = 60_000;
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 1_000;

const imageSchema = z.object({
  Id: z.string().min(1),
  Os: z.string(),
  Architecture: z.string(),
  RepoDigests: z.array(z.string()).nullish(),
});
export type InspectedImage = z.infer<typeof imageSchema>;

/** The image as the daemon has it, undefined where it has none. Throws for a name that is none. */
export async function inspectImage(
  docker: Docker,
  reference: string,
  signal: AbortSignal | undefined,
): Promise<InspectedImage | undefined> {
  try {
    return imageSchema.parse(await askDaemon(() => docker.getImage(reference).inspect(), signal));
  } catch (error) {
    const code = statusCode(error);
    if (code === 404) return undefined;
    const words = `${reference}: ${dockerWords(error)}`;
    if (code === 400) throw new ImageUnavailableError(words, { cause: error });
    throw error instanceof SandboxLostError ? error : new SandboxLostError(words, { cause: error });
  }
}

/**
 * A daemon that is busy may fail to answer once; what it says of the request itself is final. Throws
 * that, or `SandboxLostError`.
 */
export async function askDaemon<T>(
  question: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const limits = { signal, timeoutMs: LOOK_MS };
  for (let look = 1; ; look += 1) {
    try {
      return await interruptible(question(), limits);
    } catch (error) {
      const code = statusCode(error) ?? 0;
      if (error instanceof SandboxLostError || (code >= 400 && code < 500)) throw error;
      if (look === LOOKS) {
        throw new SandboxLostError(`no answer from Docker: ${dockerWords(error)}`, {
          cause: error,
        });
      }
      const pause = new Promise<void>((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MS));
      await interruptible(pause, limits);
    }
  }
}
