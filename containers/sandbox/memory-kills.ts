import { readFileSync } from 'node:fs';

/** Of this container's control group, version 2 and version 1. */
const FILES = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** How many processes the kernel has ended because memory ran out; 0 where it does not tell. */
export function memoryKills(): number {
  for (const file of FILES) {
    const [, count] = /^oom_kill (\d+)$/m.exec(textOf(file)) ?? [];
    if (count !== undefined) return Number(count);
  }
  return 0;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
