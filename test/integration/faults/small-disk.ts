import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';

// biome-ignore lint/style/noProcessEnv: whether this is CI is a setting of the test run, not of ours
const IS_CI = process.env['CI'] === 'true';

/**
 * Whether tests that mount a file system are to be skipped, which is said on standard error. Never in
 * CI: there they shall fail.
 */
export function skipsWithoutMounts(): boolean {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  if (isRoot || IS_CI) return false;
  process.stderr.write(
    '\nSKIPPED: full and read-only disks, only root on Linux can mount them.\n\n',
  );
  return true;
}

function shell(command: string): void {
  execFileSync('/bin/sh', ['-c', command]);
}

/** A file system in memory, so small that it is soon full. */
export interface SmallDisk {
  readonly path: string;
  /** A shell command that leaves no free byte, or no free file. */
  fill(what: 'bytes' | 'files'): string;
  /** Makes room again. */
  clear(): void;
  remount(options: 'ro' | 'rw'): void;
  unmount(): void;
}

/** Mounts a disk of so many KiB at `path`, with room for so many files. */
export function mountSmallDisk(path: string, kibibytes = 2048, files = 2000): SmallDisk {
  mkdirSync(path, { recursive: true });
  const options = `size=${kibibytes}k,nr_inodes=${files},mode=1777`;
  shell(`mount -t tmpfs -o ${options} tmpfs ${path}`);
  const filler = `${path}/.filler`;
  return {
    path,
    fill(what) {
      return what === 'bytes'
        ? `cat /dev/zero > ${filler}`
        : `mkdir -p ${filler}; cd ${filler}; n=0; while : > $n; do n=$((n+1)); done`;
    },
    clear: () => rmSync(filler, { recursive: true, force: true }),
    remount: (mode) => shell(`mount -o remount,${mode} ${path}`),
    // Lazily: a process that was killed may still hold a file.
    unmount: () => shell(`umount -l ${path}`),
  };
}
