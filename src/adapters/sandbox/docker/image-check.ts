import type Docker from 'dockerode';
import { ImageUnavailableError } from '../../../core/ports/sandbox.ts';
import type { ImagePin } from '../../../core/run/manifest.ts';
import { isImageId, parseImageReference, pinOf, withoutDoubt } from './image-reference.ts';
import { askDaemon, type InspectedImage, inspectImage } from './inspect-image.ts';
import type { PullProgress } from './pull-events.ts';
import { pullImage } from './pull-image.ts';
import type { RegistryLogins } from './registry-login.ts';

/** What may stand in a path of the daemon's interface; it judges the rest itself. */
const REFERENCE = /^[A-Za-z0-9](?:[\w.:/@-](?<!\.\.)){0,1000}$/;
const STALL_MS = 300_000;

export interface CheckedImage {
  /** As the row named it. */
  reference: string;
  /** The daemon's own digest of it: containers are made from this, whatever the tag means later. */
  id: string;
  /** For other passes and machines, see `pinOf`. */
  pin: string;
  /** Whether it had to be pulled. */
  isPulled: boolean;
  /** Whether the name means another image on this machine by now than the one it was pinned to. */
  hasMoved: boolean;
}

/** What is told of pulls, by the name of what is pulled: the row's, or the pin. */
export interface PullObserver {
  started(name: string): void;
  advanced(name: string, progress: PullProgress): void;
  ended(name: string, isPulled: boolean): void;
}

export interface ImageCheckOptions {
  /** Pins of earlier passes by reference: these images are used, whatever the names mean now. */
  pins?: ReadonlyMap<string, ImagePin>;
  logins?: RegistryLogins;
  observer?: PullObserver;
  signal?: AbortSignal;
  /** The longest that a pull may make no progress, in milliseconds. */
  stallMs?: number;
}

export interface ImageChecks {
  /**
   * Once for each reference: there, or pulled, and of the daemon's platform. Throws
   * `ImageUnavailableError`, or `SandboxLostError` where the daemon did not answer or the signal
   * ended it.
   */
  check(reference: string): Promise<CheckedImage>;
  /** Looks for the very same image again, or pulls it, the next time that it is needed. */
  renew(reference: string): void;
}

/** Checks whose first answer holds as long as they live, so that a run uses one image for a name. */
export function createImageChecks(docker: Docker, options: ImageCheckOptions = {}): ImageChecks {
  const checks = new Map<string, Promise<CheckedImage>>();
  const pins = new Map(options.pins);
  return {
    check(reference) {
      const known = checks.get(reference);
      if (known !== undefined) return known;
      const checking = checkImage(docker, reference, { ...options, pins });
      checks.set(reference, checking);
      checking.then(
        ({ pin, id }) => pins.set(reference, { pin, id: pins.get(reference)?.id ?? id }),
        () => undefined,
      );
      return checking;
    },
    renew(reference) {
      if (pins.has(reference)) checks.delete(reference);
    },
  };
}

async function checkImage(
  docker: Docker,
  reference: string,
  options: ImageCheckOptions,
): Promise<CheckedImage> {
  const { signal } = options;
  const pinned = options.pins?.get(reference);
  for (const name of [reference, pinned?.pin, pinned?.id]) {
    if (name !== undefined && !REFERENCE.test(name)) throw notAName(name);
  }
  const here = await findHere(docker, reference, pinned, signal);
  const image = here ?? (await pulled(docker, { reference, pinned: pinned?.pin }, options));
  const server = await askDaemon(() => docker.version(), signal);
  if (image.Os !== server.Os || image.Architecture !== server.Arch) {
    throw new ImageUnavailableError(
      `${reference}: made for ${image.Os}/${image.Architecture}, and this Docker daemon runs ${server.Os}/${server.Arch}; name an image of that platform`,
    );
  }
  const named = pinned === undefined ? image : await inspectImage(docker, reference, signal);
  const repositoryDigests = image.RepoDigests ?? [];
  return {
    reference,
    id: image.Id,
    pin: pinned?.pin ?? pinOf(reference, { id: image.Id, repositoryDigests }),
    isPulled: here === undefined,
    hasMoved: named !== undefined && named.Id !== image.Id,
  };
}

function notAName(name: string): ImageUnavailableError {
  return new ImageUnavailableError(
    `${JSON.stringify(name.slice(0, 200))}: expected an image such as debian:12 or registry.example/name@sha256:…`,
  );
}

async function findHere(
  docker: Docker,
  reference: string,
  pinned: ImagePin | undefined,
  signal: AbortSignal | undefined,
): Promise<InspectedImage | undefined> {
  // A name that was not pinned may also be the beginning of an id, which is here or nowhere.
  if (pinned === undefined) return await inspectImage(docker, reference, signal);
  // An image that was loaded from a file has lost the registry's digest.
  return (
    (await inspectImage(docker, withoutDoubt(pinned.pin), signal)) ??
    (await inspectImage(docker, pinned.id, signal))
  );
}

interface WantedImage {
  reference: string;
  pinned: string | undefined;
}

async function pulled(
  docker: Docker,
  of: WantedImage,
  { logins, observer, signal, stallMs = STALL_MS }: ImageCheckOptions,
): Promise<InspectedImage> {
  const { reference, pinned } = of;
  const name = pinned ?? reference;
  const wanted = withoutDoubt(name);
  if (isImageId(wanted)) {
    throw unavailable(of, 'no registry has it: it is the id of an image that was made, not pulled');
  }
  const { registry } = parseImageReference(wanted);
  const { auth, problem = undefined } = (await logins?.(registry)) ?? {};
  let isPulled = false;
  observer?.started(name);
  try {
    const onProgress = (progress: PullProgress) => observer?.advanced(name, progress);
    await pullImage(docker, { reference: wanted, auth, signal, stallMs, onProgress });
    const image = await inspectImage(docker, wanted, signal);
    if (image === undefined) throw new ImageUnavailableError('pulled, but it is not there');
    isPulled = true;
    return image;
  } catch (error) {
    if (!(error instanceof ImageUnavailableError)) throw error;
    const hint = problem === undefined ? '' : `; asked without login, since ${problem}`;
    throw unavailable(of, `can't be pulled: ${error.message}${hint}`);
  } finally {
    observer?.ended(name, isPulled);
  }
}

function unavailable({ reference, pinned }: WantedImage, why: string): ImageUnavailableError {
  const what =
    pinned === undefined
      ? 'the image'
      : `the run began with ${pinned} and takes no other; that image`;
  return new ImageUnavailableError(`${reference}: ${what} is not here, and ${why}`);
}
