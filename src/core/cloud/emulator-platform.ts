import type { ImageRegistry } from '../ports/image-registry.ts';
import type { TaskContainer, TaskDefinition } from './task-definition.ts';
import { AGENT, RUNTIME_VOLUME, SANDBOX_ENTRY } from './task-definition.ts';

/*
 * All that an emulator of ECS needs otherwise than AWS; see docs/emulator.md. Nothing of this is in
 * what AWS gets.
 */

/**
 * Volumes are folders of the machine, of this launch alone but for the runtime; containers share the
 * machine's network as those of a Fargate task share theirs; entry points and the order of starts are
 * not known there. `runtime` in the folder is the sandbox runtime, there before any task.
 */
function emulatorTaskDefinition(
  definition: TaskDefinition,
  of: { folder: string; token: string; endpoint: string },
): TaskDefinition {
  const source = (volume: string) =>
    volume === RUNTIME_VOLUME
      ? `${of.folder}/runtime`
      : `${of.folder}/launches/${of.token}/${volume}`;
  // It starts a container that failed once more without its platform, and then tells the second fault.
  const { runtimePlatform: _, ...rest } = definition;
  return {
    ...rest,
    networkMode: 'host',
    volumes: definition.volumes.map(({ name }) => ({ name, host: { sourcePath: source(name) } })),
    containerDefinitions: definition.containerDefinitions.map((container) =>
      emulatorContainer(container, of.endpoint),
    ),
  };
}

function emulatorContainer(container: TaskContainer, endpoint: string): TaskContainer {
  const { entryPoint, dependsOn: _, ...rest } = container;
  if (entryPoint !== undefined) {
    return { ...rest, command: [SANDBOX_ENTRY, ...container.command] };
  }
  if (container.name !== AGENT) return rest;
  const { secrets = [] } = rest;
  return {
    ...rest,
    secrets: secrets.map((secret) => ({ ...secret, valueFrom: secretArn(secret.valueFrom) })),
    environment: [
      ...(container.environment ?? []),
      // The emulator puts its own in place of the first, and leaves the second as it is.
      { name: 'AWS_ENDPOINT_URL', value: endpoint },
      { name: 'AWS_ENDPOINT_URL_DYNAMODB', value: endpoint },
      { name: 'AWS_ACCESS_KEY_ID', value: 'test' },
      { name: 'AWS_SECRET_ACCESS_KEY', value: 'test' },
    ],
  };
}

/** Its stacks name a secret where those of AWS give its ARN. */
function secretArn(secret: string): string {
  if (secret.startsWith('arn:')) return secret;
  return `arn:aws:secretsmanager:us-east-1:000000000000:secret:${secret}`;
}

/** Nothing tells there that a task has stopped: the dispatcher looks for itself. */
const LINGER_MS = 1_000;
/** Merges are small there, and nobody waits for minutes to see a lost one made up for. */
const UNMERGED_MS = 15_000;

/** Settings of the dispatcher that replace those for AWS. */
export function emulatorSettings(folder: string, endpoint: string) {
  return {
    sweepEveryMs: 0,
    lingerMs: LINGER_MS,
    unmergedMs: UNMERGED_MS,
    ownDefinition: (definition: TaskDefinition, token: string) =>
      emulatorTaskDefinition(definition, { folder, token, endpoint }),
  };
}

/** An image that is named without a registry is one of the machine's own: nobody is asked for it. */
export function emulatorRegistry(registry: ImageRegistry): ImageRegistry {
  return {
    async resolve(reference, architectures) {
      const [architecture] = architectures;
      if (namesRegistry(reference) || architecture === undefined) {
        return await registry.resolve(reference, architectures);
      }
      return { pinned: reference, architecture, sizeBytes: 0 };
    },
  };
}

function namesRegistry(reference: string): boolean {
  const [first = ''] = reference.split('/', 1);
  return reference.includes('/') && (/[.:]/.test(first) || first === 'localhost');
}
