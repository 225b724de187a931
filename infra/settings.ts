import { z } from 'zod';
import { FARGATE_MEMORY } from './fargate-sizes.ts';
import { jsonObject, jsonTexts, list, optional, setting, whole, yesNo } from './setting-values.ts';

/** Days that CloudWatch Logs can keep. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653];

const text = z.string({ error: 'expected text' });
const name = text.regex(/^[A-Za-z][A-Za-z0-9-]{0,39}$/, {
  error: 'expected a letter, then up to 39 letters, digits and -',
});
const logDays = z.coerce
  .number()
  .refine((days) => LOG_DAYS.includes(days), { error: `expected one of ${LOG_DAYS.join(', ')}` });
const choice = <const Choice extends string>(...choices: Choice[]) =>
  z.enum(choices, { error: `expected ${choices.join(' or ')}` });

/**
 * Every setting of the stack: a key of cdk.json's context, or `-c key=value`. This is their only
 * source; docs/aws.md and cdk.json are tested against it.
 */
export const settings = {
  stackName: setting(name, 'talaria', 'name of the stack, and how the names of its parts begin'),
  account: optional(text, 'account to deploy to; empty: that of the credentials'),
  region: optional(text, 'region to deploy to; empty: that of the credentials'),
  vpcId: optional(text, 'an existing VPC; empty: a new one with public subnets and no NAT'),
  subnetIds: setting(
    list,
    [],
    'subnets of that VPC for the tasks, with a way to the registries, the model and AWS',
  ),
  assignPublicIp: setting(yesNo, false, 'public addresses for tasks in existing subnets'),
  maxTasks: setting(
    whole(1, 10_000),
    50,
    'tasks of the stack at once; the account’s vCPU quota holds too',
  ),
  taskCpu: setting(whole(256, 16_384), 1024, 'CPU units of a task; 1024 are one vCPU'),
  taskMemory: setting(
    whole(512, 122_880),
    4096,
    'MiB of a task; Fargate has certain sizes for each taskCpu',
  ),
  taskDisk: setting(
    whole(21, 200),
    40,
    'GiB of a task at least; an image takes its size packed and unpacked',
  ),
  spot: setting(yesNo, true, 'Spot first, on demand where it has no capacity'),
  reserveConcurrency: setting(
    yesNo,
    false,
    'keep Lambda concurrency for the dispatcher; a new account’s quota is too small to',
  ),
  workerImage: setting(
    text,
    'build',
    'image of the agent container; `build`: cdk deploy makes it of containers/worker, with Docker',
  ),
  workerImageArm64: optional(
    text,
    'the same for arm64: without it images that have nothing else can’t be run',
  ),
  defaultImage: setting(
    text,
    'build',
    'image for rows without one; `build`: made of containers/worker in the same way',
  ),
  registrySecrets: setting(
    jsonTexts,
    {},
    'ARN of the secret with username and password, by registry, for images that need a login',
  ),
  logRetentionDays: setting(logDays, 30, 'days that logs are kept'),
  noncurrentDays: setting(
    whole(1, 3650),
    30,
    'days that replaced and deleted versions of objects are kept',
  ),
  removalPolicy: setting(
    choice('retain', 'destroy'),
    'retain',
    'what cdk destroy does to bucket, table and keys; `destroy` deletes all results',
  ),
  defaultRunConfig: setting(
    jsonObject,
    { batch_size: 8 },
    'run.json of uploads that have none beside them',
  ),
  platform: setting(
    choice('aws', 'emulator'),
    'aws',
    '`emulator`: for a LocalStack-compatible endpoint, see docs/emulator.md',
  ),
  emulatorFolder: setting(
    text,
    '/tmp/talaria-emulator',
    'folder of an emulator’s machine for the volumes of tasks',
  ),
};

const schema = z.object(settings).superRefine((chosen, context) => {
  const problem = (key: keyof typeof settings, message: string) =>
    context.addIssue({ code: 'custom', path: [key], message });
  const memory = FARGATE_MEMORY.get(chosen.taskCpu);
  if (memory === undefined) {
    problem('taskCpu', `expected one of ${[...FARGATE_MEMORY.keys()].join(', ')}`);
  } else if (!memory.includes(chosen.taskMemory)) {
    const sizes = memory.join(', ');
    problem('taskMemory', `with ${chosen.taskCpu} CPU units Fargate has ${sizes}`);
  }
  if (chosen.vpcId !== undefined && chosen.subnetIds.length === 0) {
    problem('subnetIds', 'expected subnets of the VPC in vpcId');
  }
  if (chosen.vpcId === undefined && chosen.subnetIds.length > 0) {
    problem('vpcId', 'expected the VPC of the subnets in subnetIds');
  }
});
export type Settings = z.output<typeof schema>;

/** Names each setting that is wrong, and what was expected. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Keys that the CDK and its command line put beside ours. */
const FOREIGN_KEY = /[:@/]|^cdk-|^cli-/;

/**
 * The settings in an app's context. Throws one `SettingsError` for all that are wrong or unknown.
 */
export function readSettings(context: Readonly<Record<string, unknown>>): Settings {
  const own = Object.entries(context).filter(([key]) => !FOREIGN_KEY.test(key));
  const parsed = schema.safeParse(Object.fromEntries(own));
  const problems = [
    ...own
      .filter(([key]) => !Object.hasOwn(settings, key))
      .map(([key]) => `${key}: no such setting; there are ${Object.keys(settings).join(', ')}`),
    ...(parsed.error?.issues ?? []).map((issue) => {
      const key = String(issue.path[0]);
      return `${key}: ${issue.message}, not ${JSON.stringify(context[key])}`;
    }),
  ];
  if (parsed.data === undefined || problems.length > 0) {
    throw new SettingsError(`Settings (cdk.json, or -c key=value):\n  ${problems.join('\n  ')}`);
  }
  return parsed.data;
}
