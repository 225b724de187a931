const MIB_PER_GIB = 1024;

/** Memory in MiB that Fargate has for each number of CPU units (1024 are one vCPU). */
export const FARGATE_MEMORY: ReadonlyMap<number, readonly number[]> = new Map([
  [256, [512, 1024, 2048]],
  [512, steps(1, 4, 1)],
  [1024, steps(2, 8, 1)],
  [2048, steps(4, 16, 1)],
  [4096, steps(8, 30, 1)],
  [8192, steps(16, 60, 4)],
  [16_384, steps(32, 120, 8)],
]);

function steps(fromGib: number, toGib: number, byGib: number): number[] {
  const sizes: number[] = [];
  for (let gib = fromGib; gib <= toGib; gib += byGib) sizes.push(gib * MIB_PER_GIB);
  return sizes;
}
