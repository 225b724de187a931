const SIZES = [1, 2, 4, 8] as const;
export type SandboxCount = (typeof SIZES)[number];

/** Sandboxes of the smallest task that holds the prompts still owed. */
export function sandboxesFor(owed: number): SandboxCount {
  return SIZES.find((size) => size >= owed) ?? 8;
}

const GIB = 1024 ** 3;
/** Fargate's bounds, in GiB. */
const LEAST_DISK = 21;
const MOST_DISK = 200;
/** Definitions differ by it, so few values. */
const STEP = 10;
/** A pull stores layers as they come and unpacked, which is about three times that. */
const UNPACKED = 4;

/** Disk of a task in GiB: what the stack gives each, and more for an image that leaves less of it. */
export function diskFor(imageBytes: number, stackDisk: number): number {
  const image = Math.ceil((imageBytes * UNPACKED) / GIB);
  // What the stack gives is meant to hold an ordinary image of a few GiB.
  const wanted = image <= stackDisk / 2 ? stackDisk : Math.ceil((image + stackDisk) / STEP) * STEP;
  return Math.min(MOST_DISK, Math.max(LEAST_DISK, wanted));
}

/** Whether no task can hold the image. */
export function isTooLarge(imageBytes: number): boolean {
  return imageBytes * UNPACKED > (MOST_DISK - LEAST_DISK) * GIB;
}
