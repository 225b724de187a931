import type { Container } from 'dockerode';
import { dockerWords, statusCode } from './docker-words.ts';

const ROUNDS = 12;
const PAUSE_MS = 100;

/** Why a container's stream ended, as the Docker daemon has it; takes a second or so at most. */
export async function explainLoss(of: {
  container: Container;
  what: string;
  memoryBytes?: number | undefined;
  errors(): string;
}): Promise<string> {
  const errors = of.errors() === '' ? '' : `: ${of.errors()}`;
  for (let round = 0; round < ROUNDS; round += 1) {
    const state = await stateOf(of.container);
    if (typeof state === 'string') return `${of.what}: ${state}`;
    if (state.OOMKilled) {
      const limit = of.memoryBytes === undefined ? '' : ` of ${of.memoryBytes} bytes`;
      return `${of.what}: out of memory, its limit${limit} was reached`;
    }
    // The stream ends a moment before the daemon has noted why.
    if (!state.Running) return `${of.what}: its container exited with ${state.ExitCode}${errors}`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return `${of.what}, and its container still runs${errors}`;
}

async function stateOf(container: Container) {
  try {
    return (await container.inspect()).State;
  } catch (error) {
    return statusCode(error) === 404 ? 'its container was removed' : dockerWords(error);
  }
}
