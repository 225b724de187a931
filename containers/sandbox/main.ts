import { Duplex } from 'node:stream';
import { serveSandbox } from '../../src/adapters/sandbox/protocol/serve-sandbox.ts';
import { endAllProcesses } from './end-all-processes.ts';
import { firstConnection } from './first-connection.ts';
import { imageEnvironment, userName } from './image-environment.ts';
import { openExecutor } from './open-executor.ts';

/** Mount points; see entry.sh. */
const RUNTIME = '/.talaria';
const IO = '/.talaria-io';
/** How long a daemon that listens waits for its agent. */
const FIRST_CONNECTION_MS = 15 * 60_000;

// Its end is that of the connection, or of the container.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const workdir = process.cwd();
// Commands may remove the folder the image starts in.
process.chdir('/');
const image = imageEnvironment(process.ppid);
const [, , socket] = process.argv;
const stream =
  socket === undefined
    ? Duplex.from({ readable: process.stdin, writable: process.stdout })
    : await firstConnection(socket, FIRST_CONNECTION_MS);
if (stream === undefined) process.exit(0);

await serveSandbox(stream, {
  open: (asked) =>
    openExecutor(asked, { runtime: RUNTIME, io: IO, image, user: userName(), workdir }),
});
await endAllProcesses();
process.exit(0);
