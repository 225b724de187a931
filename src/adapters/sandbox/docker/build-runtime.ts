import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type Docker from 'dockerode';

/** Inside the built image, see containers/sandbox/Dockerfile. */
const BUILT = '/runtime';

export interface SandboxRuntimeDeps {
  docker: Docker;
  /** The folder containers/sandbox. */
  sourceFolder: string;
  /** The daemon, bundled into one file. */
  daemonFile: string;
  /** The user's cache folder of this program; made if missing. */
  cacheFolder: string;
  /** Images to take Node and busybox from, in place of the Dockerfile's. */
  buildArguments?: Readonly<Record<string, string>> | undefined;
  /** Ends the build. */
  signal?: AbortSignal;
}

/**
 * The sandbox runtime as a folder of this machine, built by the Docker daemon for its own
 * architecture unless the same was built before. Throws with the daemon's words.
 */
export async function buildSandboxRuntime(deps: SandboxRuntimeDeps): Promise<string> {
  const { Arch } = await deps.docker.version();
  const folder = join(deps.cacheFolder, `sandbox-runtime-${Arch}-${await contentHash(deps)}`);
  if (await isThere(folder)) return folder;
  await mkdir(deps.cacheFolder, { recursive: true });
  const temporary = await mkdtemp(join(deps.cacheFolder, 'building-'));
  try {
    const image = await build(deps, join(temporary, 'context'));
    await extract(deps.docker, image, temporary);
    const made = join(temporary, 'runtime');
    await chmod(made, 0o755);
    await rename(made, folder).catch(async (error: unknown) => {
      // Another process was first, with the same bytes.
      if (!(await isThere(folder))) throw error;
    });
    return folder;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function contentHash(deps: SandboxRuntimeDeps): Promise<string> {
  const hash = createHash('sha256');
  for (const file of sources(deps)) hash.update(await readFile(file.from)).update('\0');
  hash.update(JSON.stringify(Object.entries(deps.buildArguments ?? {}).sort()));
  return hash.digest('hex').slice(0, 16);
}

function sources({ sourceFolder, daemonFile }: SandboxRuntimeDeps) {
  return [
    { name: 'Dockerfile', from: join(sourceFolder, 'Dockerfile') },
    { name: 'entry.sh', from: join(sourceFolder, 'entry.sh') },
    { name: 'daemon.mjs', from: daemonFile },
  ];
}

async function build(deps: SandboxRuntimeDeps, context: string): Promise<string> {
  await mkdir(context);
  for (const { name, from } of sources(deps)) await copyFile(from, join(context, name));
  const src = sources(deps).map(({ name }) => name);
  const buildargs = { ...deps.buildArguments };
  const output = await deps.docker.buildImage(
    { context, src },
    { buildargs, rm: true, forcerm: true, ...(deps.signal && { abortSignal: deps.signal }) },
  );
  const events = await new Promise<BuildEvent[]>((resolve, reject) => {
    deps.docker.modem.followProgress(output, (error, all: BuildEvent[]) =>
      error === null ? resolve(all) : reject(error),
    );
  });
  const failed = events.find(({ error }) => error !== undefined);
  if (failed !== undefined) throw new Error(`the sandbox runtime can't be built: ${failed.error}`);
  const id = events.map(({ aux }) => aux?.ID).findLast((found) => found !== undefined);
  if (id === undefined) throw new Error('Docker built the sandbox runtime, but named no image');
  return id;
}

interface BuildEvent {
  error?: string;
  aux?: { ID?: string };
}

async function extract(docker: Docker, image: string, folder: string): Promise<void> {
  // Never started: it only holds the files.
  const container = await docker.createContainer({ Image: image, Cmd: [`${BUILT}/entry.sh`] });
  try {
    const archive = await container.getArchive({ path: BUILT });
    const tar = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] });
    const ended = once(tar, 'close');
    await pipeline(archive, tar.stdin);
    const [code] = await ended;
    if (code !== 0) throw new Error(`tar could not unpack the sandbox runtime (exit code ${code})`);
  } finally {
    await container.remove({ force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
