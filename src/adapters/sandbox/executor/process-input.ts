import { Socket } from 'node:net';
import { SandboxProcessError } from '../../../core/ports/sandbox.ts';

/** Bytes that may wait for a process that does not read, beside what the pipe itself holds. */
const MAX_WAITING = 1024 * 1024;
/** How long a write may take before it is left to itself. */
const WRITE_GRACE_MS = 50;

export interface ProcessInput {
  /** Throws `SandboxProcessError` `input_closed` or `input_full`. */
  write(bytes: Uint8Array): Promise<void>;
  /** End-of-file, after all that was written. */
  end(): void;
  /** Whether `end` was called, whatever became of the process since. */
  wasEnded(): boolean;
  /** Gives up what is still waiting. */
  close(): void;
}

/** The writing end of a process's standard input. Owns the fd; errors begin with `id`. */
export function createProcessInput(id: string, fd: number): ProcessInput {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => socket.destroy());
  let wasEnded = false;

  return {
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) throw closedInput(id);
      if (socket.writableLength + bytes.length > MAX_WAITING) {
        throw new SandboxProcessError(
          `${id}: its input is full, ${socket.writableLength} bytes wait to be read, at most ${MAX_WAITING} may; poll until it reads, or write less`,
          'input_full',
        );
      }
      if (!(await isTaken(socket, bytes))) throw closedInput(id);
    },
    end() {
      wasEnded = true;
      socket.end();
    },
    wasEnded: () => wasEnded,
    close: () => void socket.destroy(),
  };
}

/** False where the process has closed its end. */
function isTaken(socket: Socket, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    const grace = setTimeout(() => resolve(true), WRITE_GRACE_MS);
    socket.write(Uint8Array.from(bytes), (error) => {
      clearTimeout(grace);
      resolve(error === undefined || error === null);
    });
  });
}

function closedInput(id: string): SandboxProcessError {
  return new SandboxProcessError(
    `${id}: its input is closed; start it again to send more, or poll to see what it made of what it got`,
    'input_closed',
  );
}
