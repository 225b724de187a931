import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';

/** What the starter asks of other invocations; it waits for none of them. */
export function createLambdaStarterCalls(
  client: LambdaClient,
  names: { starter: string; dispatcher: string; merge: string },
) {
  async function invoke(FunctionName: string, event: object): Promise<void> {
    const Payload = JSON.stringify(event);
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  }

  return {
    nudgeDispatcher: () => invoke(names.dispatcher, { nudge: true }),
    mergeRun: (run: string) => invoke(names.merge, { merge_run: run }),
    goOn: (event: { run: string; owner: string; hops: number }) =>
      invoke(names.starter, { continue_planning: event }),
  };
}
