import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { z } from 'zod';
import { type MadePart, madePartSchema, type PartsJob } from '../../core/cloud/parts-job.ts';

export interface MergeInvocations {
  /** Not waited for. */
  mergeRun(runName: string): Promise<void>;
  /** Not waited for. */
  resumePlanning(runName: string): Promise<void>;
  /** Waited for: resolves when another invocation has made the parts. */
  makeParts(job: PartsJob): Promise<MadePart[]>;
}

const madePartsSchema = z.array(madePartSchema);

/** What the merge asks of other invocations. */
export function createMergeInvocations(
  lambda: LambdaClient,
  names: { merge: string; starter: string },
): MergeInvocations {
  async function send(FunctionName: string, event: object): Promise<void> {
    const Payload = JSON.stringify(event);
    await lambda.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  }

  return {
    mergeRun: (runName) => send(names.merge, { merge_run: runName }),
    resumePlanning: (runName) => send(names.starter, { resume_planning: runName }),
    async makeParts(job) {
      const answer = await lambda.send(
        new InvokeCommand({
          FunctionName: names.merge,
          Payload: JSON.stringify({ make_parts: job }),
        }),
      );
      const text = answer.Payload?.transformToString() ?? '';
      if (answer.FunctionError !== undefined) {
        throw new Error(`${job.key}: its parts could not be made: ${text.slice(0, 1000)}`);
      }
      return madePartsSchema.parse(JSON.parse(text));
    },
  };
}
