import { readSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';

const CHUNK = 64 * 1024;
/** The largest pipe an unprivileged process can make: what a foreground command may leave in it. */
const DRAIN_LIMIT = 1024 * 1024;
/** Pause between chunks once nobody listens: a flooding background child gets some 6 MB/s. */
const DISCARD_PAUSE_MS = 10;

/** One for all readers: libuv reads into it and calls back at once, on the one thread. */
const sharedBuffer = Buffer.allocUnsafe(CHUNK);

export interface PipeReader {
  /**
   * Hands over what is in the pipe now and stops listening. Whatever a background child writes
   * later is read and thrown away, so that the child meets neither a full pipe nor SIGPIPE.
   */
  finish(): void;
  close(): void;
}

/** Reads the pipe as data comes. A chunk's memory is used again after `onChunk`. Owns the fd. */
export function createPipeReader(
  fd: number,
  onChunk: (chunk: Uint8Array) => void,
  onClose: () => void,
): PipeReader {
  let listening = true;
  const options: SocketConstructorOpts & { onread: unknown } = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: sharedBuffer,
      callback(length: number, buffer: Uint8Array): boolean {
        if (listening) {
          onChunk(buffer.subarray(0, length));
          return true;
        }
        setTimeout(() => socket.resume(), DISCARD_PAUSE_MS).unref();
        return false;
      },
    },
  };
  const socket = new Socket(options);
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('close', onClose);
  socket.resume();

  return {
    finish() {
      if (!listening) return;
      if (!socket.destroyed && drain(fd, onChunk) === 'ended') socket.destroy();
      listening = false;
      // A background child that keeps the pipe must not keep this process.
      socket.unref();
    },
    close() {
      listening = false;
      socket.destroy();
    },
  };
}

function drain(fd: number, onChunk: (chunk: Uint8Array) => void): 'ended' | 'open' {
  for (let total = 0; total < DRAIN_LIMIT; ) {
    const length = readNow(fd);
    if (length === undefined) return 'open';
    if (length === 0) return 'ended';
    onChunk(sharedBuffer.subarray(0, length));
    total += length;
  }
  return 'open';
}

function readNow(fd: number): number | undefined {
  try {
    return readSync(fd, sharedBuffer, 0, CHUNK, null);
  } catch {
    return undefined;
  }
}
