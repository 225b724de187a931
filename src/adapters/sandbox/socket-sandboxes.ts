import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, SandboxLostError, type SandboxProvider } from '../../core/ports/sandbox.ts';
import { PROTOCOL_VERSION } from './protocol/messages.ts';
import { createProtocolClient, type ProtocolClient } from './protocol/protocol-client.ts';
import { createRemoteSandbox } from './protocol/remote-sandbox.ts';
import { connectWhenThere } from './socket-connection.ts';

/** Sandboxes that end so close together were ended by what ends the whole task. */
const TOGETHER_MS = 2_000;
/** The longest a daemon's end is waited for. */
const END_MS = 5_000;

export interface SocketSandboxesDeps {
  /** Sockets of the task's sandboxes, each of which serves one prompt. */
  sockets: readonly string[];
  /** How long a daemon may take to listen, in milliseconds. */
  connectTimeoutMs: number;
  /** Ends the wait for daemons. */
  signal: AbortSignal;
}

export interface SocketSandboxes extends SandboxProvider {
  /** Sandboxes that answered. */
  readonly answered: number;
  /** Why the others did not, where something is known. */
  readonly problems: readonly string[];
  /**
   * Keeps the first `count`, whose prompts are given them in the order in which they open; the
   * daemons of the others end. `onAllLost` is told where several have ended within 2 s and none is
   * left, before any of their prompts meets it; a prompt meets the end of its own after 2 s.
   */
  keep(count: number, onAllLost: (why: string) => void): void;
  /** Never throws. */
  close(): void;
}

interface Waiting {
  socket: Socket;
  client: ProtocolClient;
  state: 'waiting' | 'open' | 'closed' | 'lost';
  lostAt: number;
}

const isLive = ({ state }: Waiting) => state === 'waiting' || state === 'open';

/** Connects to every sandbox of the task at once. Resolves when each has answered or will not. */
export async function connectSandboxes(deps: SocketSandboxesDeps): Promise<SocketSandboxes> {
  const problems: string[] = [];
  const allLost = new AbortController();
  let all: Waiting[] = [];
  let onAllLost: (why: string) => void = () => undefined;
  const connected = await Promise.all(
    deps.sockets.map(async (path): Promise<Waiting | undefined> => {
      try {
        return await answered(path);
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    }),
  );
  all = connected.filter((one) => one !== undefined);

  async function answered(path: string): Promise<Waiting> {
    const socket = await connectWhenThere(path, { ...deps, timeoutMs: deps.connectTimeoutMs });
    if (socket === undefined) throw new Error(`no sandbox listens on ${path}`);
    const waiting: Waiting = {
      socket,
      state: 'waiting',
      lostAt: Number.NEGATIVE_INFINITY,
      client: createProtocolClient(socket, { explainLoss: (what) => explain(waiting, what) }),
    };
    await waiting.client.heard;
    return waiting;
  }

  /** Waits until it can be told whether all are lost, or the task is being stopped, or this one. */
  async function explain(of: Waiting, what: string): Promise<string> {
    if (of.state === 'closed') return 'the sandbox is closed';
    of.state = 'lost';
    of.lostAt = performance.now();
    const together = all.filter(({ lostAt }) => lostAt > performance.now() - TOGETHER_MS);
    if (!all.some(isLive) && together.length > 1) tellAllLost(what);
    await delay(TOGETHER_MS, undefined, { signal: allLost.signal, ref: false }).catch(
      () => undefined,
    );
    return what;
  }

  function tellAllLost(why: string): void {
    onAllLost(why);
    allLost.abort();
  }

  /** Resolves when its daemon has ended, and with it all that ran there, ports that it held too. */
  async function end(of: Waiting): Promise<void> {
    if (isLive(of)) {
      of.state = 'closed';
      of.socket.end();
      const closed = once(of.socket, 'close').catch(() => undefined);
      await Promise.race([closed, delay(END_MS, undefined, { ref: false })]);
    }
    of.client.close();
  }

  return {
    answered: all.length,
    problems,
    keep(count, tell) {
      onAllLost = tell;
      for (const unused of all.slice(count)) void end(unused);
      all = all.slice(0, count);
    },
    async open({ promptId, cwd }) {
      const next = all.find(({ state }) => state === 'waiting');
      if (next === undefined) throw new SandboxLostError('no sandbox is left in this task');
      next.state = 'open';
      const { client } = next;
      try {
        await client.call('open', { version: PROTOCOL_VERSION, cwd, mark: promptId });
      } catch (error) {
        await end(next);
        throw error;
      }
      const sandbox: Sandbox = {
        ...createRemoteSandbox(client),
        close: async () => end(next),
      };
      return sandbox;
    },
    close() {
      for (const one of all) void end(one);
    },
  };
}
