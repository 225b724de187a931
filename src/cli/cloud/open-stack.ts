import type { Command } from 'commander';
import type { Bucket } from '../../adapters/aws/bucket.ts';
import type { StackOutputs } from '../../adapters/aws/stack.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

export interface StackOptions {
  stack: string;
  bucket?: string;
}

/** Adds the flags that say which deployed stack is meant. */
export function addStackOptions(command: Command, of: { bucket: boolean }): Command {
  command.option('--stack <name>', 'the deployed stack', 'talaria');
  if (!of.bucket) return command;
  return command.option('--bucket <name>', 'its bucket, without a look at the stack');
}

/** The bucket of the stack that is meant. */
export async function openStackBucket(options: StackOptions, { env }: Wiring): Promise<Bucket> {
  // Loaded only by commands of the cloud: the SDK is large.
  const { openBucket } = await import('../../adapters/aws/bucket.ts');
  const name = options.bucket ?? (await stackOutputs(options)).bucket;
  return openBucket(name, env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL']);
}

export async function stackOutputs({ stack }: StackOptions): Promise<StackOutputs> {
  const { readStack } = await import('../../adapters/aws/stack.ts');
  return await readStack(stack);
}

/** Does `work` with AWS; what only the user's settings can mend becomes a `UsageError`. */
export async function withAws<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explained(error);
  }
}

const EXPIRED = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidClientTokenId']);

function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === 'CredentialsProviderError') {
    return new UsageError(
      `no AWS credentials: aws configure, aws sso login, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY set them (${error.message})`,
      { cause: error },
    );
  }
  if (error.message === 'Region is missing') {
    return new UsageError('no AWS region: AWS_REGION names the one the stack is in', {
      cause: error,
    });
  }
  if (EXPIRED.has(error.name)) {
    return new UsageError(`AWS refuses the credentials: ${error.message}`, { cause: error });
  }
  return error;
}
