import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import type Docker from 'dockerode';

// biome-ignore lint/style/noProcessEnv: whether tests may be left out is a setting of the test run
const ENVIRONMENT = process.env;
/** Debian's docker-registry, the reference implementation. */
const PROGRAM = 'docker-registry';

/** The one login of a registry that wants one. */
export const LOGIN = { username: 'jo', password: 'only-for-this-registry' };
/** That password, by `crypt` with bcrypt. */
const HTPASSWD = `${LOGIN.username}:$2y$05$abcdefghijklmnopqrstuup372WwTDq2roegULG22qsEcauQGFcxW\n`;

const TYPES = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  index: 'application/vnd.docker.distribution.manifest.list.v2+json',
};

export interface PushOptions {
  tag?: string;
  /** Of its one file, which is random: no two images are the same. */
  bytes?: number;
  architecture?: string;
}

export interface PushedImage {
  /** `host/name:tag` */
  reference: string;
  /** `host/name:tag@sha256:…` */
  pin: string;
}

/** A registry on loopback with a folder and a port of its own. */
export interface ImageRegistry {
  host: string;
  /** Puts an image of one random file there. */
  push(name: string, options?: PushOptions): Promise<PushedImage>;
  /** Puts one for each architecture there, under one tag; `pins` are their digests. */
  pushIndex(
    name: string,
    architectures: readonly string[],
  ): Promise<{ reference: string; pins: Record<string, string> }>;
  /** Takes an image out of it, under all of its tags. */
  forget(image: PushedImage): Promise<void>;
  stop(): Promise<void>;
}

/** Whether the registry's program is here; throws in CI where it is not, since tests would be left out. */
export function hasRegistry(): boolean {
  const { error } = spawnSync(PROGRAM, ['--version']);
  if (error === undefined) return true;
  if (ENVIRONMENT['CI'] === 'true') throw new Error(`no ${PROGRAM}`, { cause: error });
  process.stderr.write(`\nNO ${PROGRAM} (${error.message}): PULLS OF IMAGES ARE NOT TESTED\n\n`);
  return false;
}

export async function startRegistry({ login = false } = {}): Promise<ImageRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-registry-'));
  const configFile = join(folder, 'config.json');
  const passwords = join(folder, 'htpasswd');
  await writeFile(passwords, HTPASSWD);
  // YAML takes JSON as it is.
  const config = {
    version: '0.1',
    log: { level: 'info' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: '127.0.0.1:0', secret: 'test' },
    ...(login && { auth: { htpasswd: { realm: 'test', path: passwords } } }),
  };
  await writeFile(configFile, JSON.stringify(config));
  const child = spawn(PROGRAM, ['serve', configFile], { stdio: ['ignore', 'ignore', 'pipe'] });
  const host = await listening(child);
  const headers = login ? { authorization: `Basic ${btoa(Object.values(LOGIN).join(':'))}` } : {};

  async function ask(method: string, path: string, body?: Buffer, type?: string) {
    const url = new URL(path, `http://${host}`);
    const answer = await fetch(url, {
      method,
      headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: new Uint8Array(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  async function putBlob(name: string, bytes: Buffer) {
    const begun = await ask('POST', `/v2/${name}/blobs/uploads/`);
    const to = new URL(begun.headers.get('location') ?? '');
    to.searchParams.set('digest', sha256(bytes));
    await ask('PUT', `${to.pathname}${to.search}`, bytes);
    return { size: bytes.length, digest: sha256(bytes) };
  }

  async function putImage(
    name: string,
    { tag = '1', bytes = 1000, architecture = ARCHITECTURE }: PushOptions,
  ) {
    const layer = await layerOf(bytes);
    const config = Buffer.from(
      JSON.stringify({
        architecture,
        os: 'linux',
        config: {},
        rootfs: { type: 'layers', diff_ids: [sha256(layer)] },
      }),
    );
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: TYPES.manifest,
        config: { mediaType: TYPES.config, ...(await putBlob(name, config)) },
        layers: [{ mediaType: TYPES.layer, ...(await putBlob(name, gzipSync(layer))) }],
      }),
    );
    await ask('PUT', `/v2/${name}/manifests/${tag}`, manifest, TYPES.manifest);
    const reference = `${host}/${name}:${tag}`;
    return { reference, size: manifest.length, digest: sha256(manifest) };
  }

  return {
    host,
    async push(name, options = {}) {
      const { reference, digest } = await putImage(name, options);
      return { reference, pin: `${reference}@${digest}` };
    },
    async pushIndex(name, architectures) {
      const pins: Record<string, string> = {};
      const manifests = [];
      for (const architecture of architectures) {
        const { size, digest } = await putImage(name, { tag: architecture, architecture });
        const platform = { os: 'linux', architecture };
        manifests.push({ mediaType: TYPES.manifest, size, digest, platform });
        pins[architecture] = digest;
      }
      const index = { schemaVersion: 2, mediaType: TYPES.index, manifests };
      const bytes = Buffer.from(JSON.stringify(index));
      await ask('PUT', `/v2/${name}/manifests/1`, bytes, TYPES.index);
      return { reference: `${host}/${name}:1`, pins };
    },
    async forget({ pin }) {
      const [, name, digest] = /^[^/]+\/([^:]+):[^@]+@(.*)$/.exec(pin) ?? [];
      await ask('DELETE', `/v2/${name}/manifests/${digest}`);
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      if (child.kill()) await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Removes every image of a registry from the daemon. */
export async function removeImagesOf(docker: Docker, host: string): Promise<void> {
  for (const { Id, RepoTags, RepoDigests } of await docker.listImages()) {
    const names = [...(RepoTags ?? []), ...(RepoDigests ?? [])];
    if (names.some((name) => name.startsWith(`${host}/`))) {
      await docker.getImage(Id).remove({ force: true });
    }
  }
}

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** Resolves to host and port once it listens. */
async function listening(child: ChildProcess): Promise<string> {
  const said: string[] = [];
  if (child.stderr === null) throw new Error('no standard error');
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    const [, host] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (host === undefined) continue;
    child.stderr.resume();
    return host;
  }
  throw new Error(`${PROGRAM} does not listen:\n${said.join('\n')}`);
}

async function layerOf(bytes: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-layer-'));
  try {
    await writeFile(join(folder, 'file'), randomBytes(bytes));
    return execFileSync('tar', ['-c', '-C', folder, 'file'], { maxBuffer: bytes + 100_000 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
