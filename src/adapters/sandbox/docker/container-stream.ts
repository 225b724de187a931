import { Duplex } from 'node:stream';

const HEADER = 8;
const STDERR = 2;
/** What is kept of standard error, to say why a sandbox did not start. */
const MAX_ERRORS = 4_096;

export interface ContainerStream {
  /** Standard output and input of the container's first process. */
  stream: Duplex;
  /** The end of what it wrote to standard error. */
  errors(): string;
}

/** Takes apart what an attached container sends: both outputs, framed by the Docker daemon. */
export function createContainerStream(raw: NodeJS.ReadWriteStream): ContainerStream {
  let errors = '';
  let header = Buffer.alloc(0);
  let left = 0;
  let isError = false;

  function take(chunk: Buffer): Buffer {
    if (left === 0) {
      header = Buffer.concat([header, chunk.subarray(0, HEADER - header.length)]);
      return chunk;
    }
    const part = chunk.subarray(0, left);
    left -= part.length;
    if (isError) errors = (errors + part.toString()).slice(-MAX_ERRORS);
    else if (!stream.push(part)) raw.pause();
    return part;
  }

  function onData(data: Buffer): void {
    for (let chunk = data; chunk.length > 0; ) {
      if (left > 0) {
        chunk = chunk.subarray(take(chunk).length);
        continue;
      }
      const had = header.length;
      take(chunk);
      chunk = chunk.subarray(header.length - had);
      if (header.length < HEADER) return;
      isError = header[0] === STDERR;
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  }

  const stream = new Duplex({
    read: () => void raw.resume(),
    write: (chunk: Buffer, _, done) => void raw.write(chunk, done),
    final: (done) => {
      raw.end();
      done();
    },
    destroy: (error, done) => {
      if ('destroy' in raw && typeof raw.destroy === 'function') raw.destroy();
      done(error);
    },
  });
  raw.on('data', onData);
  raw.on('error', () => stream.destroy());
  raw.on('end', () => stream.push(null));
  raw.on('close', () => stream.destroy());
  return { stream, errors: () => errors.trim() };
}
