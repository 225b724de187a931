import { hostname } from 'node:os';
import type Docker from 'dockerode';
import type { SandboxOwner } from '../sandbox-owner.ts';
import { statusCode } from './docker-words.ts';

const OWNER = 'talaria.owner';
const HOST = 'talaria.host';
const RUN = 'talaria.run';
const EXPIRES = 'talaria.expires';

/** Says whose a container is, so that a later process can tell that nobody's is. */
export function containerLabels(of: {
  owner: SandboxOwner;
  runName: string;
  promptId: string;
  timeToLiveMs: number;
}): Record<string, string> {
  return {
    [OWNER]: of.owner.prefix,
    [HOST]: hostname(),
    [RUN]: of.runName,
    'talaria.prompt': of.promptId,
    [EXPIRES]: new Date(Date.now() + of.timeToLiveMs).toISOString(),
  };
}

/**
 * Removes the sandboxes of processes of this machine that are dead, and those of anybody else that
 * are past their time; resolves to how many.
 */
export async function sweepContainers(docker: Docker, owner: SandboxOwner): Promise<number> {
  const all = await docker.listContainers({ all: true, filters: { label: [OWNER] } });
  const removed = await Promise.all(
    all.map(async ({ Id, Labels }) => (await isLeft(Labels, owner)) && (await remove(docker, Id))),
  );
  return removed.filter(Boolean).length;
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
