import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CloudBatch } from '../../support/cloud-batch.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage } from '../../support/docker-images.ts';
import { hasEmulator } from '../../support/emulator.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { text, toolCall } from '../../support/model-server-replies.ts';
import { startTask, type TaskContainers } from '../../support/task-containers.ts';
import { useWorkers } from '../../support/worker-harness.ts';
import { makeWorkerImage } from '../../support/worker-image.ts';

const canRun = hasEmulator() && (await hasDocker());
const KEY = 'sk-key-of-the-model';
const PORT = 20_000 + (process.pid % 10_000);

/** One prompt before the attacker, whose port was left open, and one after it, whose sandbox waits. */
const ROWS = [{ prompt: 'leave' }, { prompt: 'attack' }, { prompt: 'wait' }];
const COMMANDS: Record<string, string> = {
  leave: `echo "it is there" > /root/left; (setsid nc -ll -p ${PORT} -e cat &); sleep 0.3; netstat -ltn`,
  attack: [
    'echo "== ports"',
    `echo hello | nc -w 2 127.0.0.1 ${PORT}; echo "port: $?"`,
    'echo "== files"',
    'ls -la /.talaria-io /.talaria-io/.. /root; find / -xdev -type s; find /.talaria-io',
    'for at in 0 1 2; do echo x | nc -w 1 local:/.talaria-io/$at/sandbox.sock; done',
    'echo x | nc -w 1 local:/.talaria-io/sandbox.sock; echo "socket: $?"',
    'echo x > /.talaria/entry.sh; echo "runtime: $?"',
    'echo "== environments"',
    'env; for process in /proc/[0-9]*; do tr "\\0" "\\n" < $process/environ; done',
    'cat /proc/mounts',
    'echo "== credentials"',
    'echo "[$AWS_CONTAINER_CREDENTIALS_FULL_URI]"',
    'uri=$AWS_CONTAINER_CREDENTIALS_FULL_URI; [ -z "$uri" ] || wget -q -O - "$uri"',
    'echo "[$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI]"',
    'echo "[$ECS_CONTAINER_METADATA_URI_V4$AWS_CONTAINER_AUTHORIZATION_TOKEN$AWS_ACCESS_KEY_ID$MODEL_KEYS$WORKER_EXTERNAL_ID]"',
  ].join('\n'),
  wait: 'ls -A /root; ls /.talaria-io',
};

describe.runIf(canRun)('a task of containers', { timeout: 240_000 }, () => {
  const workers = useWorkers('task');
  const asked: string[] = [];
  let model: ModelServer;
  let task: TaskContainers;
  const credentials = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{"AccessKeyId":"of-the-task"}');
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => credentials.listen(0, '127.0.0.1', resolve));
    const { port } = credentials.address() as AddressInfo;
    model = await startModelServer({
      reply({ body: { messages } }) {
        const [prompt] = messages;
        return messages.length > 1
          ? text('Done.')
          : toolCall('terminal', { command: COMMANDS[prompt?.content ?? ''] ?? 'false' });
      },
    });
    task = await startTask(workers.docker, {
      workerImage: await makeWorkerImage(workers.docker),
      image: await makeImage(workers.docker, 'bash'),
      sandboxes: 4,
      // As Fargate gives it to every container of a task with a role.
      env: {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/secret-path`,
        AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/secret-path',
        ECS_CONTAINER_METADATA_URI_V4: 'http://169.254.170.2/v4/secret-path',
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'secret-token',
      },
    });
  }, 120_000);
  afterAll(async () => {
    await task?.dispose();
    await model?.close();
    credentials.close();
  });

  const agentEnv = ({ run, batch }: CloudBatch) => ({
    ...workers.emulator().env,
    TABLE_NAME: workers.resources().table.name,
    BUCKET_NAME: workers.resources().bucket.name,
    RUN_NAME: run,
    BATCH: String(batch),
    LAUNCH: '1',
  });

  it('runs a batch, and lets no prompt at another, at the agent or at its credentials', async () => {
    const batch = await workers.plan({
      run: 'task',
      rows: ROWS,
      config: { model: 'test/model', base_url: model.baseUrl },
    });
    await batch.launch(1);
    const { code, log } = await task.runAgent({
      ...agentEnv(batch),
      SANDBOXES: '4',
      IMAGE: 'bash@sha256:0123',
      MODEL_KEYS: JSON.stringify({ 'elsewhere.example': KEY }),
      WORKER_EXTERNAL_ID: 'external-id',
    });
    expect([code, log]).toEqual([0, expect.stringContaining('"end":"closed"')]);
    expect(await batch.record()).toMatchObject({ state: 'closed' });
    const read = (position: number) =>
      workers.objects(batch).sample(batch.batch, { position, launch: 1 });
    const [left, attack, waited] = await Promise.all([read(0), read(1), read(2)]);
    const outputOf = ({ row }: typeof left) =>
      String(JSON.parse(row.conversations[2]?.value ?? '{}').output);
    expect(left.row.metadata.image).toBe('bash@sha256:0123');
    expect(outputOf(left)).toContain(`:${PORT} `);

    const seen = outputOf(attack);
    expect(seen).toContain('port: 1\n');
    expect(seen).toContain('socket: 1\n');
    expect(seen).toMatch(/entry\.sh: Read-only file system\nruntime: 1\n/);
    // Its own folder has no socket any more, and no other is there.
    expect(seen).not.toMatch(/sandbox\.sock$/m);
    expect(seen).not.toContain('it is there');
    expect(seen).not.toMatch(/secret-path|secret-token|sk-key|external-id|TABLE_NAME|MODEL_KEYS=/);
    expect(seen).not.toMatch(/^(AWS|ECS)_/m);
    expect(seen).toContain('== credentials\n[]\n[]\n[]\n');
    expect(asked).toEqual([]);
    expect(outputOf(waited)).not.toMatch(/left|sandbox\.sock/);
    for (const { row } of [left, attack, waited]) expect(JSON.stringify(row)).not.toContain(KEY);
  });

  it('leaves socket folders to every user, and the runtime to none', async () => {
    const modes = ['0', '3', 'runtime'].map(async (of) => (await stat(join(task.folder, of))).mode);
    expect((await Promise.all(modes)).map((mode) => mode & 0o7777)).toEqual([
      0o1777, 0o1777, 0o755,
    ]);
  });

  it('hands back, and loses no sandbox, when all containers are told to stop at once', async () => {
    const slow = await startModelServer({
      reply: () => ({
        ...toolCall('terminal', { command: 'sleep 1; echo there' }),
        delayMs: 2_000,
      }),
    });
    const stopped = await startTask(workers.docker, {
      workerImage: await makeWorkerImage(workers.docker),
      image: await makeImage(workers.docker, 'bash'),
      sandboxes: 2,
      env: {},
    });
    try {
      const config = { model: 'test/model', base_url: slow.baseUrl };
      const batch = await workers.plan({ run: 'told-to-stop', rows: ROWS.slice(1), config });
      await batch.launch(1);
      const agent = stopped.runAgent({ ...agentEnv(batch), SANDBOXES: '2', MODEL_KEYS: '{}' });
      await expect.poll(() => slow.requests.length, { timeout: 90_000 }).toBe(1);
      await stopped.tellAll('SIGTERM');
      expect((await agent).code).toBe(0);
      expect(await batch.record()).toMatchObject({
        state: 'waiting',
        remaining: 2,
        careful: false,
        starts: { 0: 0 },
      });
      expect(await workers.work(batch, 1).attempts()).toEqual([]);
      // Its reply was paid for and followed to the end of the turn; nothing else was asked.
      expect(slow.requests).toHaveLength(1);
    } finally {
      await stopped.dispose();
      await slow.close();
    }
  });
});
