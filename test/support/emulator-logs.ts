import { z } from 'zod';

const groupsSchema = z.object({ logGroups: z.array(z.object({ logGroupName: z.string() })) });
const eventsSchema = z.object({
  events: z.array(z.object({ message: z.string() })),
  nextToken: z.string().optional(),
});

/** What the functions and tasks of an emulator have logged so far, a line each; of each the last ones. */
export async function emulatorLogs(
  endpoint: string,
  { last = Number.POSITIVE_INFINITY } = {},
): Promise<string> {
  const { logGroups } = groupsSchema.parse(await ask(endpoint, 'DescribeLogGroups', {}));
  const all: string[] = [];
  for (const { logGroupName } of logGroups) {
    const lines: string[] = [];
    let nextToken: string | undefined;
    do {
      const page = await ask(endpoint, 'FilterLogEvents', { logGroupName, nextToken });
      const { events, nextToken: next } = eventsSchema.parse(page);
      lines.push(...events.map(({ message }) => `${logGroupName} ${message}`));
      nextToken = next === nextToken ? undefined : next;
    } while (nextToken !== undefined);
    all.push(...lines.slice(-last));
  }
  return all.join('\n');
}

/** CloudWatch Logs' own protocol: nothing else here needs a client of it. */
async function ask(endpoint: string, action: string, body: unknown): Promise<unknown> {
  const scope = 'Credential=test/20260101/us-east-1/logs/aws4_request';
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `Logs_20140328.${action}`,
      authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none`,
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${action}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}
