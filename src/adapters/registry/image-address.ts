import { ImageGoneError } from '../../core/ports/image-registry.ts';

/** Where an image's manifest is. */
export interface ImageAddress {
  /** As in references: `docker.io` where none is named. */
  registry: string;
  /** Host and port to ask. */
  host: string;
  /** Path within the registry. */
  repository: string;
  /** Digest, or tag. */
  version: string;
  /** As the reference has it, without tag and digest. */
  name: string;
}

const DOCKER_HUB = 'docker.io';
const HUB_NAMES = new Set([DOCKER_HUB, `index.${DOCKER_HUB}`]);
const DOCKER_HUB_HOST = 'registry-1.docker.io';
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::\d{1,5})?$/;
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MOST = 500;

/** Reads a reference as Docker does. Throws `ImageGoneError` for what can't be one. */
export function imageAddress(reference: string): ImageAddress {
  const { name, tag, digest } = partsOf(reference);
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(0, slash));
  const namesHost = isHostName(first);
  const isHub = !namesHost || HUB_NAMES.has(first);
  const path = namesHost ? name.slice(slash + 1) : name;
  const repository = isHub && !path.includes('/') ? `library/${path}` : path;
  const isName = (isHub || HOST.test(first)) && PATH.test(repository);
  if (reference.length > MOST || !isName || !isVersion(reference, tag, digest)) {
    throw new ImageGoneError(
      `${JSON.stringify(reference.slice(0, 200))}: expected an image such as debian:12 or registry.example/name@sha256:…`,
    );
  }
  return {
    registry: isHub ? DOCKER_HUB : first,
    host: isHub ? DOCKER_HUB_HOST : first,
    repository,
    version: digest || tag || 'latest',
    name,
  };
}

function partsOf(reference: string) {
  const [tagged = '', digest = ''] = reference.split('@', 2);
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  if (colon < 0) return { name: tagged, tag: '', digest };
  return { name: tagged.slice(0, colon), tag: tagged.slice(colon + 1), digest };
}

function isHostName(first: string): boolean {
  return /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
}

function isVersion(reference: string, tag: string, digest: string): boolean {
  return (tag === '' || TAG.test(tag)) && (!reference.includes('@') || DIGEST.test(digest));
}

/** Whether a host is this machine, by its name alone. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3})(:\d+)?$/.test(host);
}
