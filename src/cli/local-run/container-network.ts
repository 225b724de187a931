import type Docker from 'dockerode';
import { dockerWords } from '../../adapters/sandbox/docker/docker-words.ts';
import { sandboxNetwork } from '../../adapters/sandbox/docker/sandbox-network.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { oneSafeLine } from '../terminal/format.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * The network for a run's containers, as Docker takes it. Where there can be none that keeps them
 * apart they share Docker's own, and that is said.
 */
export async function containerNetwork(
  { sandbox_network: asked }: RunConfig,
  docker: Docker,
  terminal: Terminal,
): Promise<string> {
  if (asked !== 'bridge') return asked;
  try {
    return await sandboxNetwork(docker);
  } catch (error) {
    const words = oneSafeLine(dockerWords(error), 300);
    terminal.line(
      `containers can reach one another: Docker makes no network of their own: ${words}`,
    );
    return asked;
  }
}
