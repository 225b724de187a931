import type Docker from 'dockerode';
import { ImageUnavailableError, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { dockerWords } from './docker-words.ts';
import { createPullSum, type PullProgress, readPullEvents } from './pull-events.ts';
import type { RegistryAuth } from './registry-login.ts';

export interface PullRequest {
  /** With its tag or digest. */
  reference: string;
  auth?: RegistryAuth | undefined;
  /** Ends the pull, here and in the daemon. */
  signal?: AbortSignal | undefined;
  /** The longest without any progress, in milliseconds. */
  stallMs: number;
  onProgress(progress: PullProgress): void;
}

/**
 * Has the daemon pull an image. Throws `ImageUnavailableError` with what daemon and registry said, or
 * where nothing moved for too long, and `SandboxLostError` where the signal ended it.
 */
export async function pullImage(docker: Docker, of: PullRequest): Promise<void> {
  const { signal, stallMs } = of;
  const end = new AbortController();
  let isStalled = false;
  const stall = setTimeout(() => {
    isStalled = true;
    end.abort();
  }, stallMs);
  const stop = () => end.abort();
  signal?.addEventListener('abort', stop);
  try {
    signal?.throwIfAborted();
    await followPull(docker, of, end.signal, () => stall.refresh());
  } catch (error) {
    throw pullFault(error, of, isStalled);
  } finally {
    clearTimeout(stall);
    signal?.removeEventListener('abort', stop);
  }
}

/** Without the error that it comes from: a registry may repeat in its words what it was sent. */
function pullFault(error: unknown, { auth, signal, stallMs }: PullRequest, isStalled: boolean) {
  if (signal?.aborted === true) return new SandboxLostError('the pull was ended with the run');
  if (isStalled) {
    return new ImageUnavailableError(
      `no progress for ${stallMs / 1000} s, so the pull was given up`,
    );
  }
  const words = withoutSecrets(dockerWords(error), auth);
  // A fault of the connection to the daemon has a code of the system; what the daemon says has none.
  return error instanceof Error && 'code' in error
    ? new SandboxLostError(`Docker went away during the pull: ${words}`)
    : new ImageUnavailableError(words);
}

async function followPull(
  docker: Docker,
  { reference, auth, onProgress }: PullRequest,
  abortSignal: AbortSignal,
  onMove: () => void,
): Promise<void> {
  const sum = createPullSum();
  const options = { abortSignal, ...(auth !== undefined && { authconfig: auth }) };
  for await (const event of readPullEvents(await docker.pull(reference, options))) {
    const words = event.errorDetail?.message ?? event.error;
    if (words !== undefined) throw new Error(words);
    if (sum.add(event)) onMove();
    onProgress(sum.progress());
  }
  abortSignal.throwIfAborted();
}

function withoutSecrets(words: string, auth: RegistryAuth | undefined): string {
  if (auth === undefined) return words;
  const { username = '', password = '', identitytoken = '', registrytoken = '' } = auth;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const secrets = [password, identitytoken, registrytoken, password && basic];
  return secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '…'), words);
}
