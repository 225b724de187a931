import { access, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { SandboxFileError, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { fileError } from './file-errors.ts';

export interface SandboxPathsDeps {
  /** Real paths of the folders that file operations may touch; `/` for all. */
  roots: readonly string[];
  /** What `~` means, and what messages name as the way out. */
  home: string;
  /** Gone only when the sandbox is. */
  stateFolder: string;
  /** The shell's current working directory. */
  cwd(): string;
}

export interface SandboxPaths {
  /**
   * The absolute path without symlinks; what does not exist yet is appended as written. Throws
   * `SandboxFileError` `outside` for a path that leads out by `..` or a symlink.
   */
  locate(path: string): Promise<string>;
  /** Maps a failed operation on `path`; `SandboxLostError` where the sandbox itself is gone. */
  explain(error: unknown, path: string): Promise<Error>;
}

/** Maps paths as a command would write them to real ones inside the sandbox's folders. */
export function createSandboxPaths(deps: SandboxPathsDeps): SandboxPaths {
  function absolute(path: string): string {
    if (path === '~' || path.startsWith('~/')) return join(deps.home, path.slice(1));
    return resolve(deps.cwd(), path);
  }

  return {
    async locate(path) {
      if (path === '' || path.includes('\0')) {
        throw new SandboxFileError('expected a path, got an empty one or a NUL byte', 'not_found');
      }
      const real = await realOf(absolute(path));
      if (deps.roots.some((root) => isInside(root, real))) return real;
      throw new SandboxFileError(
        `${path}: leads out of the sandbox; use a path inside the work folder, ${deps.home}`,
        'outside',
      );
    },
    async explain(error, path) {
      const mapped = fileError(error, path);
      if (!(mapped instanceof SandboxFileError) || mapped.code !== 'not_found') return mapped;
      const isThere = await access(deps.stateFolder).then(
        () => true,
        () => false,
      );
      return isThere
        ? mapped
        : new SandboxLostError("the sandbox's folder is gone", { cause: error });
    },
  };
}

/** Real path of the nearest ancestor that exists, and the rest as written. */
async function realOf(path: string): Promise<string> {
  for (let ancestor = path; ; ancestor = dirname(ancestor)) {
    try {
      return join(await realpath(ancestor), relative(ancestor, path));
    } catch (error) {
      const mapped = fileError(error, path);
      const isMissing = mapped instanceof SandboxFileError && mapped.code === 'not_found';
      if (!isMissing || ancestor === '/') throw error;
    }
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}
