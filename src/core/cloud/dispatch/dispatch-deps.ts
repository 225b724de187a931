import type { BatchInbox } from '../../ports/batch-inbox.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CloudFunctions } from '../../ports/cloud-functions.ts';
import type { DispatchedBatches } from '../../ports/dispatched-batches.ts';
import type { DispatchedRuns } from '../../ports/dispatched-runs.ts';
import type { DispatcherLease } from '../../ports/dispatcher-lease.ts';
import type { Fleet } from '../../ports/fleet.ts';
import type { ImageRegistry } from '../../ports/image-registry.ts';
import type { KnownDefinitions } from '../../ports/known-definitions.ts';
import type { Launches } from '../../ports/launches.ts';
import type { OldSamples } from '../../ports/old-samples.ts';
import type { WorkerObjects } from '../../ports/worker-objects.ts';
import type { TaskDefinition, TaskSettings } from '../task-definition.ts';

export interface DispatchSettings {
  /** Launches of the whole stack at once. */
  maxTasks: number;
  /** Whether the first launch of a batch is a Spot one. */
  spot: boolean;
  /** Of rows without image in runs that name none. */
  defaultImage: string;
  /** GiB of a task at least. */
  disk: number;
  task: TaskSettings;
  /** Secrets with the logins of registries, by host. */
  registrySecrets: Readonly<Record<string, string>>;
  /** How often at most tasks are looked at and runs are swept, in milliseconds. */
  sweepEveryMs: number;
  /** Before a closed batch that nobody merged is merged again, in milliseconds. */
  unmergedMs: number;
  /** Where nobody tells that a task has stopped: look again after this, for as long as there is time. */
  lingerMs?: number;
  /** Gives each launch a definition of its own. */
  ownDefinition?: (definition: TaskDefinition, token: string) => TaskDefinition;
}

/** What dispatching works with. */
export interface DispatchDeps {
  lease: DispatcherLease;
  runs: DispatchedRuns;
  batches: DispatchedBatches;
  launches: Launches;
  definitions: KnownDefinitions;
  fleet: Fleet;
  inbox: BatchInbox;
  registry: ImageRegistry;
  functions: CloudFunctions;
  clock: Clock;
  settings: DispatchSettings;
  newId(): string;
  sha256(text: string): string;
  /** Stored rows of a run. */
  objects(run: string): Pick<WorkerObjects, 'samples' | 'sample'>;
  oldSamples: OldSamples;
  /** One line for operators. */
  log(event: string, fields: Record<string, unknown>, level?: 'info' | 'error'): void;
}

/** How far this invocation may go on. */
export interface WorkTime {
  /** Whether there is time to begin something more. */
  isLeft(): boolean;
  /** Keeps the lease; throws where it is lost. To be called between steps. */
  hold(): Promise<void>;
}
