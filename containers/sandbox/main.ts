import { Duplex } from 'node:stream';
import { serveSandbox } from '../../src/adapters/sandbox/protocol/serve-sandbox.ts';
import { imageEnvironment, userName } from './image-environment.ts';
import { openExecutor } from './open-executor.ts';

/** Mount points; see entry.sh. */
const RUNTIME = '/.talaria';
const IO = '/.talaria-io';

// Its end is that of the connection, or of the container.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const workdir = process.cwd();
// Commands may remove the folder the image starts in.
process.chdir('/');
const image = imageEnvironment(process.ppid);
const stream = Duplex.from({ readable: process.stdin, writable: process.stdout });

await serveSandbox(stream, {
  open: async (asked) =>
    openExecutor(asked, { runtime: RUNTIME, io: IO, image, user: userName(), workdir }),
});
process.exit(0);
