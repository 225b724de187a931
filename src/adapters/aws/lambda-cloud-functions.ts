import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { CloudFunctions } from '../../core/ports/cloud-functions.ts';

/** The starter and the merge, invoked without waiting for their end. */
export function createLambdaCloudFunctions(
  client: LambdaClient,
  names: { starter: string; merge: string },
): CloudFunctions {
  async function invoke(FunctionName: string, payload: unknown): Promise<void> {
    await client.send(
      new InvokeCommand({
        FunctionName,
        InvocationType: 'Event',
        Payload: JSON.stringify(payload),
      }),
    );
  }

  return {
    resumePlanning: (run) => invoke(names.starter, { resume_planning: run }),
    mergeBatch: (run, batch) => invoke(names.merge, { merge_batch: { run, batch } }),
    mergeRun: (run) => invoke(names.merge, { merge_run: run }),
  };
}
