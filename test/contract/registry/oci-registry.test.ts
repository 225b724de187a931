import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createOciRegistry } from '../../../src/adapters/registry/oci-registry.ts';
import { ImageGoneError, RegistryBusyError } from '../../../src/core/ports/image-registry.ts';
import {
  hasRegistry,
  type ImageRegistry,
  LOGIN,
  startRegistry,
} from '../../support/image-registry.ts';

const BOTH = ['amd64', 'arm64'] as const;
const anonymous = createOciRegistry({ loginFor: async () => undefined, allowLoopback: true });
const { username, password } = LOGIN;
const known = createOciRegistry({
  loginFor: async () => ({ username, password }),
  allowLoopback: true,
});

describe.skipIf(!hasRegistry())('images asked of a real registry', () => {
  let open: ImageRegistry;
  let closed: ImageRegistry;
  beforeAll(async () => {
    [open, closed] = await Promise.all([startRegistry(), startRegistry({ login: true })]);
  });
  afterAll(() => Promise.all([open.stop(), closed.stop()]));

  it('gives digest, platform and size of a tag, and of its digest', async () => {
    const { reference, pin } = await open.push('one/image', {
      bytes: 50_000,
      architecture: 'amd64',
    });
    const digest = pin.slice(pin.indexOf('@'));

    const image = await anonymous.resolve(reference, BOTH);

    const name = reference.slice(0, reference.lastIndexOf(':'));
    expect(image).toMatchObject({ pinned: `${name}${digest}`, architecture: 'amd64' });
    // Random bytes can't be packed.
    expect(image.sizeBytes).toBeGreaterThan(50_000);
    expect(image.sizeBytes).toBeLessThan(60_000);
    expect(await anonymous.resolve(pin, BOTH)).toEqual(image);
    expect(await anonymous.resolve(image.pinned, BOTH)).toEqual(image);
  });

  it('takes arm64 where there is nothing else and a worker for it', async () => {
    const { reference } = await open.push('arm', { architecture: 'arm64' });

    expect(await anonymous.resolve(reference, BOTH)).toMatchObject({ architecture: 'arm64' });
    const refused = anonymous.resolve(reference, ['amd64']);
    await expect(refused).rejects.toThrow(ImageGoneError);
    await expect(refused).rejects.toThrow('made for linux/arm64, and tasks run linux/amd64');
  });

  it('chooses amd64 of an image of many platforms, and pins that', async () => {
    const { reference, pins } = await open.pushIndex('many', ['arm64', 's390x', 'amd64']);
    const image = await anonymous.resolve(reference, BOTH);
    expect(image).toMatchObject({ architecture: 'amd64' });
    expect(image.pinned.split('@')[1]).toBe(pins['amd64']);
    expect(image.sizeBytes).toBeGreaterThan(1_000);

    const other = await open.pushIndex('few', ['s390x']);
    await expect(anonymous.resolve(other.reference, BOTH)).rejects.toThrow('made for linux/s390x');
  });

  it('knows what is gone for good: a tag, a name, a digest', async () => {
    const { reference } = await open.push('there');
    const missing = [
      `${reference}0`,
      `${open.host}/nothing/here:1`,
      `${open.host}/there@sha256:${'0'.repeat(64)}`,
    ];
    for (const of of missing) {
      const gone = anonymous.resolve(of, BOTH);
      await expect(gone).rejects.toThrow(ImageGoneError);
      await expect(gone).rejects.toThrow(`${of}: its registry has no such image (404)`);
    }
  });

  it('logs in where it has to, and says so where it can not', async () => {
    const { reference } = await closed.push('secret');

    expect(await known.resolve(reference, BOTH)).toMatchObject({ sizeBytes: expect.any(Number) });
    await expect(anonymous.resolve(reference, BOTH)).rejects.toThrow('wants a login');
    const wrong = createOciRegistry({
      loginFor: async () => ({ username, password: 'other-than-that' }),
      allowLoopback: true,
    });
    const refused = wrong.resolve(reference, BOTH);
    await expect(refused).rejects.toThrow(ImageGoneError);
    await expect(refused).rejects.not.toThrow('other-than-that');
  });

  it('asks no registry of the machine itself unless it may', async () => {
    const { reference } = await open.push('local');
    const strict = createOciRegistry({ loginFor: async () => undefined, allowLoopback: false });
    await expect(strict.resolve(reference, BOTH)).rejects.toThrow(ImageGoneError);
  });
});

describe('a registry that misbehaves', () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(() => stop?.());

  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function resolveAt(host: string, timeoutMs = 5_000) {
    const registry = createOciRegistry({
      loginFor: async () => ({ username, password }),
      allowLoopback: true,
      timeoutMs,
    });
    return registry.resolve(`${host}/name:1`, BOTH);
  }

  it.each([429, 500, 502, 503])('may be asked later after status %d', async (status) => {
    const host = await serve((_, response) => response.writeHead(status).end());
    await expect(resolveAt(host)).rejects.toThrow(RegistryBusyError);
  });

  it('may be asked later where nobody listens, or nothing comes', async () => {
    const silent = await serve(() => undefined);
    await expect(resolveAt(silent, 300)).rejects.toThrow(RegistryBusyError);
    await stop?.();
    await expect(resolveAt(silent)).rejects.toThrow(RegistryBusyError);
  });

  it('is given up where it sends without end', async () => {
    const host = await serve((_, response) => {
      response.writeHead(200);
      const more = () => response.writable && response.write(Buffer.alloc(100_000), more);
      more();
    });
    await expect(resolveAt(host)).rejects.toThrow('more than');
  });

  it.each(['not JSON', '[]', '{"schemaVersion":1,"fsLayers":[]}'])(
    'has no image where its manifest is %s',
    async (body) => {
      const host = await serve((_, response) => response.end(body));
      await expect(resolveAt(host)).rejects.toThrow(ImageGoneError);
    },
  );

  it('gets a token of the place it names, and the login goes to no other', async () => {
    const seen: string[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(`elsewhere ${request.headers.authorization}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const host = await serve((request, response) => {
      const { authorization = 'nothing' } = request.headers;
      const url = new URL(request.url ?? '', 'http://registry');
      seen.push(`${url.pathname} ${authorization}`);
      if (url.pathname === '/token') {
        expect(url.searchParams.get('scope')).toBe('repository:name:pull');
        response.end('{"token":"abc"}');
      } else if (authorization === 'nothing') {
        const challenge = `Bearer realm="http://${host}/token",service="s",scope="repository:name:pull"`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
      } else {
        const location = `http://127.0.0.1:${port}/blob`;
        response.writeHead(307, { location }).end();
      }
    });
    await expect(resolveAt(host)).rejects.toThrow(ImageGoneError);
    elsewhere.close();
    elsewhere.closeAllConnections();

    const basic = `Basic ${btoa(`${username}:${password}`)}`;
    expect(seen).toEqual([
      '/v2/name/manifests/1 nothing',
      `/token ${basic}`,
      '/v2/name/manifests/1 Bearer abc',
      'elsewhere undefined',
    ]);
  });

  it.each(['http://registry.test/x', 'https://127.0.0.1:1/x', 'nonsense://'])(
    'leads nowhere by a redirect to %s',
    async (location) => {
      const host = await serve((_, response) => response.writeHead(302, { location }).end());
      await expect(resolveAt(host)).rejects.toThrow(/HTTPS|no answer/);
    },
  );

  it('may be asked later where it redirects without end', async () => {
    const host = await serve((request, response) =>
      response.writeHead(302, { location: `${request.url}x` }).end(),
    );
    await expect(resolveAt(host)).rejects.toThrow('redirects without end');
  });
});

it.each([
  '',
  'registry.test/UPPER:1',
  'a b',
  'x@sha256:short',
  'x:tag@',
  '../../etc',
  'host.test/',
  'a'.repeat(600),
])('takes %j for no image', async (reference) => {
  await expect(anonymous.resolve(reference, BOTH)).rejects.toThrow(ImageGoneError);
});
