import { availableParallelism, freemem, platform, totalmem } from 'node:os';
import type { SpareSettings } from '../../adapters/sandbox/docker/docker-sandbox.ts';

/** More than may be wanted in the time that a container takes to start; each takes some 25 MiB. */
const MOST = 32;
/** Share of memory that is left to what has more use for it than a container that waits. */
const KEPT_FREE = 0.1;

/** How many containers start ahead: as many as prompts run at once, unless memory is short. */
export function spareSettings(workers: number, signal: AbortSignal): SpareSettings {
  return {
    most: Math.min(workers, MOST),
    // The prompts that run need the processors too.
    startsAtOnce: Math.ceil(availableParallelism() / 2),
    // Elsewhere Docker's memory is a virtual machine's, of which nothing is known here.
    hasRoom: () => platform() !== 'linux' || freemem() > totalmem() * KEPT_FREE,
    signal,
  };
}
