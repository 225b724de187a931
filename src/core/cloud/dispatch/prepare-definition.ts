import type { ImageRecord } from '../attempt-record.ts';
import { taskDefinition } from '../task-definition.ts';
import { diskFor, type SandboxCount } from '../task-size.ts';
import type { DispatchDeps } from './dispatch-deps.ts';

/** Between two registrations: ECS takes few. */
const PAUSE_MS = 1_000;
/** How exact the time of the last use has to be. */
const USED_MS = 3_600_000;

export interface Definitions {
  /** ARN of the definition for an image and a size, registered unless there is one of its content. */
  arnFor(image: ImageRecord, sandboxes: SandboxCount, token: string): Promise<string>;
  /** ECS no longer takes it: the next call registers anew. */
  forget(arn: string): Promise<void>;
}

/** For one invocation. */
export function createDefinitions(deps: DispatchDeps): Definitions {
  const { clock, settings, definitions, fleet } = deps;
  const known = new Map<string, string>();
  let registeredAt = Number.NEGATIVE_INFINITY;

  async function register(hash: string, content: ReturnType<typeof taskDefinition>) {
    const wait = registeredAt + PAUSE_MS - clock.monotonic();
    if (wait > 0) await clock.sleep(wait);
    const arn = await fleet.register(`${settings.task.family}-${hash}`, content);
    registeredAt = clock.monotonic();
    deps.log('definition_registered', { arn });
    return await definitions.keep(hash, arn, clock.now());
  }

  return {
    async arnFor(image, sandboxes, token) {
      const [host = ''] = image.pinned.split('/', 1);
      const common = taskDefinition(settings.task, {
        pinned: image.pinned,
        architecture: image.architecture,
        credentialsArn: settings.registrySecrets[host],
        sandboxes,
        disk: diskFor(image.size_bytes, settings.disk),
      });
      const content = settings.ownDefinition?.(common, token) ?? common;
      const hash = deps.sha256(JSON.stringify(content));
      const here = known.get(hash);
      if (here !== undefined) return here;
      const found = await definitions.find(hash);
      if (found !== undefined && clock.now() - found.usedAt > USED_MS) {
        await definitions.used(hash, clock.now());
      }
      const arn = found?.arn ?? (await register(hash, content));
      known.set(hash, arn);
      return arn;
    },
    async forget(arn) {
      for (const [hash, of] of known) {
        if (of !== arn) continue;
        known.delete(hash);
        await definitions.forget(hash, clock.now());
      }
    },
  };
}
