/** The parts of an image's name, read as Docker reads them. */
export interface ImageReference {
  /** As written, without tag and digest. */
  name: string;
  /** Registry and path in full: `debian` is `docker.io/library/debian`. */
  repository: string;
  /** Host and port; `docker.io` where none is named. */
  registry: string;
  /** "" where none is written. */
  tag: string;
  /** `sha256:…`, or "" where none is written. */
  digest: string;
}

const DOCKER_HUB = 'docker.io';
const IMAGE_ID = /^sha256:[0-9a-f]{64}$/;
const DIGEST = /@[a-z0-9+._-]+:[0-9a-f]{32,}$/;

export function parseImageReference(reference: string): ImageReference {
  const [tagged = '', digest = ''] = reference.split('@', 2);
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  const name = colon < 0 ? tagged : tagged.slice(0, colon);
  const tag = colon < 0 ? '' : tagged.slice(colon + 1);
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(0, slash));
  const namesHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const isHub = !namesHost || first === DOCKER_HUB || first === `index.${DOCKER_HUB}`;
  const path = namesHost ? name.slice(slash + 1) : name;
  const registry = isHub ? DOCKER_HUB : first;
  const repository = `${registry}/${isHub && !path.includes('/') ? 'library/' : ''}${path}`;
  return { name, repository, registry, tag, digest };
}

/** Whether it names content of this machine, which no registry knows by that. */
export function isImageId(reference: string): boolean {
  return IMAGE_ID.test(reference);
}

/** What a daemon is asked for: one image, by its digest where there is one, else by its tag. */
export function withoutDoubt(reference: string): string {
  if (isImageId(reference)) return reference;
  const { name, tag, digest } = parseImageReference(reference);
  // Without a tag or digest the daemon would pull every tag there is.
  return digest === '' ? `${name}:${tag || 'latest'}` : `${name}@${digest}`;
}

/**
 * The name with the digest that its registry has for the image, `debian:12@sha256:…`; else the
 * digest in another repository; else, for an image made here, its id.
 */
export function pinOf(
  reference: string,
  image: { id: string; repositoryDigests: readonly string[] },
): string {
  if (isImageId(reference)) return reference;
  const { name, repository, tag, digest } = parseImageReference(reference);
  const known = image.repositoryDigests.filter((of) => DIGEST.test(of)).map(parseImageReference);
  const own = known.filter((of) => of.repository === repository);
  const pinned = own.find((of) => of.digest === digest) ?? own[0];
  if (pinned !== undefined) return `${name}${tag && `:${tag}`}@${pinned.digest}`;
  const [other] = known;
  return other === undefined ? image.id : `${other.name}@${other.digest}`;
}
