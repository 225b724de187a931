import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ECRClient } from '@aws-sdk/client-ecr';
import { ECSClient } from '@aws-sdk/client-ecs';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { openBucket } from '../../src/adapters/aws/bucket.ts';
import { createBucketOldSamples } from '../../src/adapters/aws/bucket-old-samples.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { createDynamoDispatchedBatches } from '../../src/adapters/aws/dynamo-dispatched-batches.ts';
import { createDynamoDispatchedRuns } from '../../src/adapters/aws/dynamo-dispatched-runs.ts';
import { createDynamoDispatcherLease } from '../../src/adapters/aws/dynamo-dispatcher-lease.ts';
import { createDynamoKnownDefinitions } from '../../src/adapters/aws/dynamo-known-definitions.ts';
import { createDynamoLaunches } from '../../src/adapters/aws/dynamo-launches.ts';
import { createEcrLogins } from '../../src/adapters/aws/ecr-login.ts';
import { createEcsFleet } from '../../src/adapters/aws/ecs-fleet.ts';
import { createLambdaCloudFunctions } from '../../src/adapters/aws/lambda-cloud-functions.ts';
import { createRegistryLogins } from '../../src/adapters/aws/registry-logins.ts';
import { createSqsBatchInbox } from '../../src/adapters/aws/sqs-batch-inbox.ts';
import { openTable } from '../../src/adapters/aws/table.ts';
import { createOciRegistry } from '../../src/adapters/registry/oci-registry.ts';
import type { DispatchDeps } from '../../src/core/cloud/dispatch/dispatch-deps.ts';
import { emulatorRegistry, emulatorSettings } from '../../src/core/cloud/emulator-platform.ts';
import { dispatchSettings } from './dispatch-settings.ts';
import { dispatcher } from './dispatcher.ts';
import { dispatcherEnvSchema } from './env.ts';

const env = dispatcherEnvSchema.parse(process.env);
const isEmulator = env.PLATFORM === 'emulator';
const table = openTable(env.TABLE_NAME);
const bucket = openBucket(env.BUCKET_NAME, env.AWS_ENDPOINT_URL);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const newId = () => randomUUID();
const settings = dispatchSettings(env);
const storedLogin = createRegistryLogins(new SecretsManagerClient({}), env.REGISTRY_SECRETS);
const ecrLogin = createEcrLogins((region) => new ECRClient({ region }), Date.now);
const registry = createOciRegistry({
  loginFor: async (host) => (await storedLogin(host)) ?? (await ecrLogin(host)),
  allowLoopback: isEmulator,
});

const deps: DispatchDeps = {
  lease: createDynamoDispatcherLease(table),
  runs: createDynamoDispatchedRuns(table),
  batches: createDynamoDispatchedBatches(table, newId),
  launches: createDynamoLaunches(table, newId),
  definitions: createDynamoKnownDefinitions(table),
  fleet: createEcsFleet(new ECSClient({}), {
    clusterArn: env.CLUSTER_ARN,
    subnetIds: env.SUBNET_IDS,
    securityGroupIds: env.SECURITY_GROUP_IDS,
    assignPublicIp: env.ASSIGN_PUBLIC_IP,
    tags: { 'talaria:family': env.TASK_FAMILY },
  }),
  inbox: createSqsBatchInbox(new SQSClient({}), env.QUEUE_URL),
  registry: isEmulator ? emulatorRegistry(registry) : registry,
  functions: createLambdaCloudFunctions(new LambdaClient({}), {
    starter: env.STARTER_NAME,
    merge: env.MERGE_NAME,
  }),
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (milliseconds) => void (await sleep(milliseconds)),
  },
  settings: isEmulator
    ? { ...settings, ...emulatorSettings(env.EMULATOR_FOLDER, env.AWS_ENDPOINT_URL ?? '') }
    : settings,
  newId,
  sha256,
  objects: (run) => createBucketWorkerObjects(bucket, run, sha256),
  oldSamples: createBucketOldSamples(bucket),
  log: (message, fields, level = 'info') =>
    process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`),
};

export const handler = (event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>) =>
  dispatcher(event, deps, context.getRemainingTimeInMillis());
