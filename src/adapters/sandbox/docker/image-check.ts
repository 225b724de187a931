import type Docker from 'dockerode';
import { ImageUnavailableError, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { dockerWords, statusCode } from './docker-words.ts';

/** What may stand in a path of the daemon's interface; it judges the rest itself. */
const REFERENCE = /^[A-Za-z0-9](?:[\w.:/@-](?<!\.\.)){0,500}$/;

export interface CheckedImage {
  /** As the row named it. */
  reference: string;
  /** The daemon's own digest of it: containers are made from this, whatever the tag means later. */
  id: string;
  /** `repository@sha256:…` as the registry knows it, or "" for an image made here. */
  repositoryDigest: string;
}

export interface ImageChecks {
  /** Once for each reference: there, or pulled. Throws `ImageUnavailableError`. */
  check(reference: string): Promise<CheckedImage>;
}

export function createImageChecks(docker: Docker): ImageChecks {
  const checks = new Map<string, Promise<CheckedImage>>();
  let server: Promise<{ Os: string; Arch: string }> | undefined;

  async function check(reference: string): Promise<CheckedImage> {
    if (!REFERENCE.test(reference)) {
      throw new ImageUnavailableError(
        `${JSON.stringify(reference.slice(0, 200))}: expected an image such as debian:12 or registry.example/name@sha256:…`,
      );
    }
    const image = (await inspect(docker, reference)) ?? (await pulled(docker, reference));
    server ??= docker.version();
    const { Os, Arch } = await server;
    if (image.Os !== Os || image.Architecture !== Arch) {
      throw new ImageUnavailableError(
        `${reference}: made for ${image.Os}/${image.Architecture}, and this Docker daemon runs ${Os}/${Arch}; name an image of that platform`,
      );
    }
    return { reference, id: image.Id, repositoryDigest: image.RepoDigests?.[0] ?? '' };
  }

  return {
    check(reference) {
      const known = checks.get(reference);
      if (known !== undefined) return known;
      const checking = check(reference);
      checks.set(reference, checking);
      checking.catch((error: unknown) => {
        // The registry's no is final for this run; a daemon that did not answer is asked again.
        if (!(error instanceof ImageUnavailableError)) checks.delete(reference);
      });
      return checking;
    },
  };
}

async function inspect(docker: Docker, reference: string) {
  try {
    return await docker.getImage(reference).inspect();
  } catch (error) {
    const code = statusCode(error);
    if (code === 404) return undefined;
    if (code === 400) throw unavailable(reference, error);
    throw new SandboxLostError(`no answer from Docker: ${dockerWords(error)}`, { cause: error });
  }
}

async function pulled(docker: Docker, reference: string) {
  try {
    // Without a tag or digest the daemon would pull every tag there is.
    const stream = await docker.pull(withTag(reference));
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(stream, (error) => (error === null ? resolve() : reject(error)));
    });
    return await docker.getImage(reference).inspect();
  } catch (error) {
    throw unavailable(reference, error);
  }
}

function withTag(reference: string): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return name.includes(':') || name.includes('@') ? reference : `${reference}:latest`;
}

function unavailable(reference: string, error: unknown): ImageUnavailableError {
  return new ImageUnavailableError(
    `${reference}: the image is not here and can't be pulled: ${dockerWords(error)}`,
    { cause: error },
  );
}
