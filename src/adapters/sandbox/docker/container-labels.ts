import { hostname } from 'node:os';
import type Docker from 'dockerode';
import type { SandboxOwner } from '../sandbox-owner.ts';
import { dockerWords, statusCode } from './docker-words.ts';

const OWNER = 'talaria.owner';
const HOST = 'talaria.host';
const RUN = 'talaria.run';
const EXPIRES = 'talaria.expires';

/**
 * Says whose a container is, so that a later process can tell that nobody's is. Its prompt is in its
 * name: labels can't be set after the start, and it may be started ahead.
 */
export function containerLabels(of: {
  owner: SandboxOwner;
  runName: string;
  timeToLiveMs: number;
}): Record<string, string> {
  return {
    [OWNER]: of.owner.prefix,
    [HOST]: hostname(),
    [RUN]: of.runName,
    [EXPIRES]: new Date(Date.now() + of.timeToLiveMs).toISOString(),
  };
}

export interface SweptContainers {
  removed: number;
  /** Names of those that could not be removed, with the daemon's words. */
  stuck: string[];
}

/**
 * Removes the sandboxes of processes of this machine that are dead, and those of anybody else that
 * are past their time. Throws where the daemon does not tell what there is.
 */
export async function sweepContainers(
  docker: Docker,
  owner: SandboxOwner,
): Promise<SweptContainers> {
  const all = await docker.listContainers({ all: true, filters: { label: [OWNER] } });
  const swept: SweptContainers = { removed: 0, stuck: [] };
  await Promise.all(
    all.map(async ({ Id, Names, Labels }) => {
      if (!(await isLeft(Labels, owner))) return;
      try {
        if (await remove(docker, Id)) swept.removed += 1;
      } catch (error) {
        swept.stuck.push(`${Names[0]?.replace(/^\//, '') ?? Id}: ${dockerWords(error)}`);
      }
    }),
  );
  return swept;
}

async function isLeft(labels: Record<string, string>, owner: SandboxOwner): Promise<boolean> {
  const state = await owner.ownerOf(labels[OWNER] ?? '');
  if (state === 'this') return false;
  if (labels[HOST] === hostname() && state === 'dead') return true;
  return Date.parse(labels[EXPIRES] ?? '') < Date.now();
}

async function remove(docker: Docker, id: string): Promise<boolean> {
  try {
    await docker.getContainer(id).remove({ force: true, v: true });
    return true;
  } catch (error) {
    // Somebody else swept it, or is at it.
    if (statusCode(error) === 404 || statusCode(error) === 409) return false;
    throw error;
  }
}
