import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EcsAnswer {
  status?: number;
  /** JSON; an error has `__type` and `message`. `hang-up` ends the connection without an answer. */
  body: Record<string, unknown> | 'hang-up';
}

/** An endpoint of ECS on loopback that gives these answers in turn, whatever it is asked. */
export async function startEcsAnswers(answers: EcsAnswer[]) {
  const asked: { action: string; input: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
      asked.push({ action, input: JSON.parse(Buffer.concat(chunks).toString('utf8')) });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === undefined || answer.body === 'hang-up') {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    asked,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
