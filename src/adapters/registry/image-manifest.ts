import { z } from 'zod';
import type { Architecture } from '../../core/cloud/task-definition.ts';
import { ImageGoneError } from '../../core/ports/image-registry.ts';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const size = z.int().min(0);
const MOST_ENTRIES = 1_000;

const manifestSchema = z.object({
  config: z.object({ digest, size }),
  layers: z.array(z.object({ digest: z.string(), size })).max(MOST_ENTRIES),
});
const indexSchema = z.object({
  manifests: z
    .array(
      z.object({
        digest,
        platform: z.object({ os: z.string(), architecture: z.string() }).nullish(),
      }),
    )
    .max(MOST_ENTRIES),
});
const configSchema = z.object({ os: z.string(), architecture: z.string() });

/** The media types that are understood. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

export type Manifest =
  | { kind: 'image'; configDigest: string; layerBytes: number }
  | { kind: 'index'; platforms: { digest: string; os: string; architecture: string }[] };

/** An image of one platform, or the list of those of many. Throws `ImageGoneError` for anything else. */
export function parseManifest(body: Buffer, reference: string): Manifest {
  const json = parseJson(body, reference);
  const index = indexSchema.safeParse(json);
  if (index.success) {
    return {
      kind: 'index',
      platforms: index.data.manifests.flatMap(({ digest: of, platform }) =>
        platform ? [{ digest: of, os: platform.os, architecture: platform.architecture }] : [],
      ),
    };
  }
  const image = manifestSchema.safeParse(json);
  if (!image.success) throw new ImageGoneError(`${reference}: its manifest is of no known form`);
  // A layer that is there twice is pulled once.
  const layers = new Map(image.data.layers.map((layer) => [layer.digest, layer.size]));
  const layerBytes = [...layers.values()].reduce((sum, bytes) => sum + bytes, 0);
  return { kind: 'image', configDigest: image.data.config.digest, layerBytes };
}

/** Of the config of an image that has but one platform. */
export function parsePlatform(body: Buffer, reference: string) {
  const config = configSchema.safeParse(parseJson(body, reference));
  if (!config.success) throw new ImageGoneError(`${reference}: its config names no platform`);
  return config.data;
}

/** The best of the platforms that can run. Throws `ImageGoneError` where there is none. */
export function choosePlatform<Platform extends { os: string; architecture: string }>(
  platforms: readonly Platform[],
  architectures: readonly Architecture[],
  reference: string,
): Platform & { architecture: Architecture } {
  for (const architecture of architectures) {
    const found = platforms.find((of) => of.os === 'linux' && of.architecture === architecture);
    if (found !== undefined) return { ...found, architecture };
  }
  const has = [...new Set(platforms.map(({ os, architecture }) => `${os}/${architecture}`))];
  const wanted = architectures.map((of) => `linux/${of}`).join(' or ');
  throw new ImageGoneError(
    `${reference}: made for ${has.slice(0, 20).join(', ') || 'no platform'}, and tasks run ${wanted}`,
  );
}

function parseJson(body: Buffer, reference: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new ImageGoneError(`${reference}: its registry answered with no JSON`, { cause: error });
  }
}
