import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type Docker from 'dockerode';
import { type BuildSteps, createBuildSteps, removeBuiltImages } from './build-steps.ts';
import { dockerWords } from './docker-words.ts';
import type { ImageChecks } from './image-check.ts';

/** Inside the built image, see containers/sandbox/Dockerfile. */
const BUILT = '/runtime';
const ATTEMPTS = 3;
const IMAGE_GONE = /no such image|unknown parent image|layer does not exist/i;

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
  /** Pulls what the runtime is made from; without, the build does so, without login and in silence. */
  images?: ImageChecks;
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
    const made = await make(deps, temporary);
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
    { name: 'make-runtime.sh', from: join(sourceFolder, 'make-runtime.sh') },
    { name: 'entry.sh', from: join(sourceFolder, 'entry.sh') },
    { name: 'daemon.mjs', from: daemonFile },
  ];
}

/** Builds the runtime and unpacks it into a folder of `temporary`; leaves nothing in the daemon. */
async function make(deps: SandboxRuntimeDeps, temporary: string): Promise<string> {
  await Promise.all((await bases(deps)).map((base) => deps.images?.check(base)));
  const context = join(temporary, 'context');
  await mkdir(context);
  for (const { name, from } of sources(deps)) await copyFile(from, join(context, name));
  for (let attempt = 1; ; attempt += 1) {
    const steps = createBuildSteps();
    try {
      await extract(deps.docker, await build(deps, context, steps), temporary);
      return join(temporary, 'runtime');
    } catch (error) {
      // Another process, which builds the same, has removed the steps that were shared.
      if (attempt === ATTEMPTS || !IMAGE_GONE.test(dockerWords(error))) throw error;
    } finally {
      await removeBuiltImages(deps.docker, steps.ids());
    }
  }
}

/** Images that the Dockerfile begins with: by its own arguments, or those given. */
async function bases({ sourceFolder, buildArguments }: SandboxRuntimeDeps): Promise<string[]> {
  const text = await readFile(join(sourceFolder, 'Dockerfile'), 'utf8');
  return [...text.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)].map(
    ([, name = '', own = '']) => buildArguments?.[name] ?? own,
  );
}

async function build(
  deps: SandboxRuntimeDeps,
  context: string,
  steps: BuildSteps,
): Promise<string> {
  const src = sources(deps).map(({ name }) => name);
  const buildargs = { ...deps.buildArguments };
  const output = await deps.docker.buildImage(
    { context, src },
    { buildargs, rm: true, forcerm: true, ...(deps.signal && { abortSignal: deps.signal }) },
  );
  await new Promise<void>((resolve, reject) => {
    deps.docker.modem.followProgress(
      output,
      (error) => (error === null ? resolve() : reject(error)),
      steps.add,
    );
  });
  const { failure, image } = steps.end();
  if (failure !== undefined) throw new Error(`the sandbox runtime can't be built: ${failure}`);
  if (image === undefined) throw new Error('Docker built the sandbox runtime, but named no image');
  return image;
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
