import type Docker from 'dockerode';
import { statusCode } from './docker-words.ts';

const NAME = 'talaria-sandboxes';
const BETWEEN_CONTAINERS = 'com.docker.network.bridge.enable_icc';

/**
 * Id of a bridge network whose containers reach what is outside, but not one another, as they do on
 * Docker's own. One for all runs of a daemon, made if missing, and it stays. Throws the daemon's error.
 */
export async function sandboxNetwork(docker: Docker): Promise<string> {
  const known = await find(docker);
  if (known !== undefined) return known;
  try {
    const made = await docker.createNetwork({
      Name: NAME,
      Driver: 'bridge',
      CheckDuplicate: true,
      Options: { [BETWEEN_CONTAINERS]: 'false' },
    });
    return made.id;
  } catch (error) {
    // Another run was first.
    const made = statusCode(error) === 409 ? await find(docker) : undefined;
    if (made === undefined) throw error;
    return made;
  }
}

async function find(docker: Docker): Promise<string | undefined> {
  // The daemon's own filter takes parts of names.
  const all = await docker.listNetworks({ filters: { name: [NAME] } });
  const own = all.find(
    ({ Name, Options }) => Name === NAME && Options?.[BETWEEN_CONTAINERS] === 'false',
  );
  return own?.Id;
}
