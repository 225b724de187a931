import { createHash } from 'node:crypto';
import {
  ImageGoneError,
  type ImageRegistry,
  RegistryBusyError,
} from '../../core/ports/image-registry.ts';
import { type Answer, boundedRequest, type RequestLimits } from './bounded-request.ts';
import { type ImageAddress, imageAddress, isLoopback } from './image-address.ts';
import { choosePlatform, MANIFEST_TYPES, parseManifest, parsePlatform } from './image-manifest.ts';
import { authorizationFor, type RegistryLogin } from './registry-token.ts';

const MOST_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

export interface OciRegistryDeps {
  /** The login for a registry, by its host and port; undefined where there is none. */
  loginFor(registry: string): Promise<RegistryLogin | undefined>;
  /** Whether registries of this machine are asked, by plain HTTP. */
  allowLoopback: boolean;
  timeoutMs?: number;
}

/** Any registry that speaks the distribution API, which is what Docker pulls from. */
export function createOciRegistry(deps: OciRegistryDeps): ImageRegistry {
  const limits: RequestLimits = {
    timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
    mostBytes: MOST_BYTES,
    allowLoopback: deps.allowLoopback,
  };
  return {
    async resolve(reference, architectures) {
      const address = imageAddress(reference);
      if (isLoopback(address.host) && !deps.allowLoopback) {
        throw new ImageGoneError(`${reference}: no task can pull from a registry on this machine`);
      }
      const ask = asker(deps, { ...address, reference }, limits);
      const top = await manifestOf(ask, address.version, reference);
      const pin = (digest: string) => `${address.name}@${digest}`;
      if (top.manifest.kind === 'image') {
        const config = parsePlatform(
          await blob(ask, top.manifest.configDigest, reference),
          reference,
        );
        const { architecture } = choosePlatform([config], architectures, reference);
        return { pinned: pin(top.digest), architecture, sizeBytes: top.manifest.layerBytes };
      }
      const chosen = choosePlatform(top.manifest.platforms, architectures, reference);
      const { manifest } = await manifestOf(ask, chosen.digest, reference);
      if (manifest.kind !== 'image') throw new ImageGoneError(`${reference}: a list of lists`);
      const { architecture } = chosen;
      return { pinned: pin(chosen.digest), architecture, sizeBytes: manifest.layerBytes };
    },
  };
}

/** By tag or digest; what comes under a digest has to have it. */
async function manifestOf(ask: Ask, version: string, reference: string) {
  const { body } = await ask(`manifests/${version}`, { accept: MANIFEST_TYPES });
  const digest = digestOf(body);
  if (version.startsWith('sha256:') && version !== digest) throw otherContent(reference);
  return { digest, manifest: parseManifest(body, reference) };
}

type Ask = (path: string, headers: Record<string, string>) => Promise<Answer>;

/** Asks within one repository; logs in once, if it has to. */
function asker(
  deps: OciRegistryDeps,
  address: ImageAddress & { reference: string },
  limits: RequestLimits,
): Ask {
  const { registry, host, repository, reference } = address;
  const scheme = isLoopback(host) ? 'http' : 'https';
  let authorization: string | undefined;

  return async (path, headers) => {
    const url = new URL(`${scheme}://${host}/v2/${repository}/${path}`);
    const send = () =>
      boundedRequest(
        url,
        { ...headers, ...(authorization !== undefined && { authorization }) },
        limits,
      );
    let answer = await send();
    const challenge = answer.headers.get('www-authenticate');
    if (answer.status === 401 && challenge !== null && authorization === undefined) {
      const login = await deps.loginFor(registry);
      authorization = await authorizationFor(challenge, { registry, repository, login }, limits);
      answer = await send();
    }
    if (answer.status === 200) return answer;
    throw refusal(answer, reference);
  };
}

/** Errors name the status alone: a registry may repeat in its words what it was sent. */
function refusal({ status }: Answer, reference: string): ImageGoneError | RegistryBusyError {
  switch (status) {
    case 400:
    case 404:
    case 410:
      return new ImageGoneError(`${reference}: its registry has no such image (${status})`);
    case 401:
    case 403:
      return new ImageGoneError(
        `${reference}: its registry denies it, or has no such image (${status})`,
      );
    default:
      return new RegistryBusyError(`${reference}: its registry answered ${status}`);
  }
}

async function blob(ask: Ask, digest: string, reference: string): Promise<Buffer> {
  const { body } = await ask(`blobs/${digest}`, {});
  if (digestOf(body) === digest) return body;
  throw otherContent(reference);
}

function otherContent(reference: string): ImageGoneError {
  return new ImageGoneError(`${reference}: its registry has other content than its digest says`);
}

function digestOf(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}
