import { readSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';

const CHUNK = 64 * 1024;
/** After so many bytes the reader rests: a flooding process gets some 25 MB/s and little of us. */
const BURST = 4 * CHUNK;
const REST_MS = 10;
/** The largest pipe an unprivileged process can make: what an ended process may leave in it. */
const DRAIN_LIMIT = 1024 * 1024;

/** One for all readers: libuv reads into it and calls back at once, on the one thread. */
const sharedBuffer = Buffer.allocUnsafe(CHUNK);

export interface BackgroundReader {
  /** Hands over what is in the pipe now, and goes on listening. */
  drain(): void;
  close(): void;
}

/**
 * Reads a pipe for as long as anybody can write to it, at a bounded rate. A chunk's memory is used
 * again after `onChunk`. Owns the fd.
 */
export function createBackgroundReader(
  fd: number,
  onChunk: (chunk: Uint8Array) => void,
): BackgroundReader {
  let inBurst = 0;
  const options: SocketConstructorOpts & { onread: unknown } = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: sharedBuffer,
      callback(length: number, buffer: Uint8Array): boolean {
        onChunk(buffer.subarray(0, length));
        inBurst += length;
        if (inBurst < BURST) return true;
        inBurst = 0;
        setTimeout(() => socket.resume(), REST_MS).unref();
        return false;
      },
    },
  };
  const socket = new Socket(options);
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.resume();

  return {
    drain() {
      for (let total = 0; !socket.destroyed && total < DRAIN_LIMIT; ) {
        const length = readNow(fd);
        if (length === 0) return;
        onChunk(sharedBuffer.subarray(0, length));
        total += length;
      }
    },
    close: () => socket.destroy(),
  };
}

/** 0 where there is nothing now, or never again. */
function readNow(fd: number): number {
  try {
    return readSync(fd, sharedBuffer, 0, CHUNK, null);
  } catch {
    return 0;
  }
}
