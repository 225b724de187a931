import type Docker from 'dockerode';
import { z } from 'zod';

const eventSchema = z.object({
  stream: z.string().optional(),
  error: z.string().optional(),
  aux: z.object({ ID: z.string().optional() }).nullish(),
});

/** `Step 3/9 : COPY a b`, then ` ---> 0123456789ab`, the image that it made or began with. */
const STEP = /^Step \d+\/\d+ : (\w+)/;
const STEP_IMAGE = /^ ---> ([0-9a-f]{12,64})\s*$/;

export interface BuildSteps {
  /** Takes what the daemon tells of a build. */
  add(event: unknown): void;
  end(): { failure: string | undefined; image: string | undefined };
  /** Images that the steps made, the last first; those that they began with are not among them. */
  ids(): string[];
}

export function createBuildSteps(): BuildSteps {
  const made = new Set<string>();
  let instruction = '';
  let failure: string | undefined;
  let image: string | undefined;
  return {
    add(event) {
      const { stream = '', error, aux } = eventSchema.parse(event);
      failure ??= error;
      image = aux?.ID ?? image;
      instruction = STEP.exec(stream)?.[1] ?? instruction;
      const id = STEP_IMAGE.exec(stream)?.[1];
      if (id !== undefined && instruction !== 'FROM') made.add(id);
    },
    end: () => ({ failure, image }),
    ids: () => [...(image === undefined ? [] : [image]), ...[...made].reverse()],
  };
}

/**
 * Removes images that a build made, unless they have a name or somebody works with them. A build of
 * several stages would leave one without a name for each. Never throws.
 */
export async function removeBuiltImages(docker: Docker, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const image = docker.getImage(id);
    try {
      const { RepoTags, RepoDigests } = await image.inspect();
      // Without pruning: what the build began with may have no name either.
      if ([...(RepoTags ?? []), ...(RepoDigests ?? [])].length === 0) {
        await image.remove({ noprune: true });
      }
    } catch {
      // Gone already, or in use.
    }
  }
}
