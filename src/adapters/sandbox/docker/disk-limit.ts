import type Docker from 'dockerode';
import type { Container, ContainerCreateOptions } from 'dockerode';
import { z } from 'zod';
import { statusCode } from './docker-words.ts';

/** Between two looks at one container, in milliseconds. */
const PAUSE_MS = 2_000;
/** All looks together take at most one part in so many of the time of one of Docker's threads. */
const SHARE = 10;
const MIB = 1024 * 1024;

const sizesSchema = z.array(z.object({ SizeRw: z.number().optional() })).max(1);

export interface DiskLimit {
  /**
   * Whether Docker itself holds the limit for a container of these options. Tried once, with one
   * that is never started: only some storage drivers can (overlay2 on xfs with pquota, btrfs, zfs),
   * and the daemon tells of it in no other way. Throws where it does not answer.
   */
  hasQuota(options: ContainerCreateOptions): Promise<boolean>;
  /**
   * Looks from now on at what a container has written; calls back once, with the reason, where that
   * is more than the limit. Gives the way to stop.
   */
  watch(container: Container, onExceeded: (reason: string) => void): () => void;
}

/**
 * The limit on what each container may write, or none. The writable layers are watched as Docker
 * counts them: by the sizes of files, without volumes and folders in memory. A look at 50,000 files
 * takes Docker some 0.2 s, at few files 3 ms.
 */
export function createDiskLimit(docker: Docker, limitBytes: number | undefined): DiskLimit {
  let quota: Promise<boolean> | undefined;
  let watched = 0;

  return {
    hasQuota(options) {
      if (limitBytes === undefined) return Promise.resolve(false);
      quota ??= isTaken(docker, options).catch((error: unknown) => {
        // The next start asks again.
        quota = undefined;
        throw error;
      });
      return quota;
    },
    watch(container, onExceeded) {
      if (limitBytes === undefined) return () => undefined;
      const limit = limitBytes;
      let isOver = false;
      let timer = wait(PAUSE_MS);
      watched += 1;

      function wait(milliseconds: number): NodeJS.Timeout {
        return setTimeout(() => void look(), milliseconds).unref();
      }

      function stop(): void {
        if (isOver) return;
        isOver = true;
        watched -= 1;
        clearTimeout(timer);
      }

      async function look(): Promise<void> {
        const from = performance.now();
        const written = await writtenBytes(docker, container);
        if (isOver) return;
        if (written > limit) {
          stop();
          onExceeded(exceeded(written, limit));
          return;
        }
        const took = performance.now() - from;
        timer = wait(Math.max(PAUSE_MS, took * SHARE * watched));
      }

      return stop;
    },
  };
}

async function isTaken(docker: Docker, options: ContainerCreateOptions): Promise<boolean> {
  try {
    const container = await docker.createContainer(options);
    await container.remove({ force: true, v: true });
    return true;
  } catch (error) {
    if (statusCode(error) === undefined) throw error;
    return false;
  }
}

async function writtenBytes(docker: Docker, { id }: Container): Promise<number> {
  try {
    const found = await docker.listContainers({ size: true, filters: { id: [id] } });
    return sizesSchema.parse(found)[0]?.SizeRw ?? 0;
  } catch {
    // No answer; the next look tells.
    return 0;
  }
}

function exceeded(written: number, limitBytes: number): string {
  const inMib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  return `the sandbox wrote ${inMib(written)} to its disk, more than its limit of ${inMib(limitBytes)}`;
}
