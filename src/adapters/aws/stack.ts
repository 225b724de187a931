import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

/** What the command line has to know of a deployed stack: its outputs of these names. */
export interface StackOutputs {
  bucket: string;
  table: string;
  /** Of the secret that holds the keys of models. */
  secretArn: string;
}

/** No stack of Talaria has that name here: the message says where was looked. */
export class StackNotFoundError extends Error {
  override readonly name = 'StackNotFoundError';
}

/** Reads a stack's outputs. Region and credentials come from the environment, as everywhere in AWS. */
export async function readStack(name: string): Promise<StackOutputs> {
  const client = new CloudFormationClient({});
  const outputs = await outputsOf(client, name);
  const region = await client.config.region();
  const output = (key: string): string => {
    const value = outputs.get(key);
    if (value) return value;
    throw new StackNotFoundError(
      `the stack ${name} in ${region} has no output ${key}: is it one of Talaria?`,
    );
  };
  return {
    bucket: output('BucketName'),
    table: output('TableName'),
    secretArn: output('ModelKeysArn'),
  };
}

async function outputsOf(client: CloudFormationClient, name: string): Promise<Map<string, string>> {
  try {
    const { Stacks: [stack] = [] } = await client.send(
      new DescribeStacksCommand({ StackName: name }),
    );
    return new Map(
      (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
        OutputKey,
        OutputValue,
      ]),
    );
  } catch (error) {
    const { name: kind, message } = error as Error;
    if (kind !== 'ValidationError' || !message.includes('does not exist')) throw error;
    throw new StackNotFoundError(
      `there is no stack ${name} in ${await client.config.region()}: cdk deploy makes one, --stack names another, AWS_REGION another region`,
      { cause: error },
    );
  }
}
