import type { ContainerCreateOptions } from 'dockerode';
import type { CheckedImage } from './image-check.ts';

/** Where the runtime is in every sandbox, see containers/sandbox. */
export const RUNTIME_MOUNT = '/.talaria';
const IO_MOUNT = '/.talaria-io';
/** Shell state, pipes, and TMPDIR or HOME in images that have no writable one. */
const IO_OPTIONS = 'rw,exec,nosuid,nodev,mode=1777,size=1g';

export interface SandboxLimits {
  /** `none`, `bridge`, `host`, or a network's name or id. */
  network: string;
  /** Undefined for no limit. Swap is not given beside it. */
  memoryBytes?: number | undefined;
  cpus?: number | undefined;
  /** Most processes and threads at once. */
  pids?: number | undefined;
  /**
   * Most that a container may write to its image's file system, in bytes, volumes and folders in
   * memory left out; also of one file, wherever it is.
   */
  diskBytes?: number | undefined;
  /** Closes the image's root to writes; work is done in the private folder then. */
  readOnlyRoot?: boolean | undefined;
}

/**
 * A container of any image with nothing of its own at work in it: entry, command and health check
 * are replaced; user, folder, environment and volumes stay the image's.
 */
export function containerOptions(of: {
  image: CheckedImage;
  runtimeFolder: string;
  limits: SandboxLimits;
  labels: Record<string, string>;
  /** Whether Docker itself holds the limit on what is written, see `DiskLimit`. */
  diskQuota: boolean;
}): ContainerCreateOptions {
  const { network, memoryBytes, cpus, pids, diskBytes, readOnlyRoot } = of.limits;
  return {
    Image: of.image.id,
    Entrypoint: [`${RUNTIME_MOUNT}/entry.sh`],
    Cmd: ['start'],
    Healthcheck: { Test: ['NONE'] },
    Labels: of.labels,
    Tty: false,
    OpenStdin: true,
    // The daemon meets the end of its input, and ends, when this process is gone.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      Mounts: [{ Type: 'bind', Source: of.runtimeFolder, Target: RUNTIME_MOUNT, ReadOnly: true }],
      Tmpfs: { [IO_MOUNT]: IO_OPTIONS },
      NetworkMode: network,
      // What the daemon answers must not be written to the host's disk.
      LogConfig: { Type: 'none', Config: {} },
      ReadonlyRootfs: readOnlyRoot === true,
      ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
      ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
      ...(pids === undefined ? {} : { PidsLimit: pids }),
      ...(diskBytes === undefined ? {} : { Ulimits: [fileSizeLimit(diskBytes)] }),
      ...(diskBytes === undefined || !of.diskQuota
        ? {}
        : { StorageOpt: { size: String(diskBytes) } }),
    },
  };
}

/** The kernel holds it at once, whatever the storage: a single large file needs no watching. */
function fileSizeLimit(bytes: number) {
  return { Name: 'fsize', Soft: bytes, Hard: bytes };
}
