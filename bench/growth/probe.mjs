// Loaded before the command line by `node --import`: writes what the process used to TALARIA_PROBE
// at its end. With `--expose-gc` it also samples the memory in use after a collection.
import { readFileSync, writeFileSync } from 'node:fs';

// biome-ignore lint/style/noProcessEnv: given by the caller, not a setting of the command
const { TALARIA_PROBE: target } = process.env;
const SAMPLE_MS = 50;
/** Buffers of a few MiB come and go with each read and write: only what outlives these samples is held. */
const HELD_SAMPLES = 4;
const TICK_MS = 10;
let peakHeap = 0;
let heldExternal = 0;
const lastExternal = [];

function sample() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  peakHeap = Math.max(peakHeap, heapUsed);
  lastExternal.push(external);
  if (lastExternal.length > HELD_SAMPLES) lastExternal.shift();
  if (lastExternal.length === HELD_SAMPLES)
    heldExternal = Math.max(heldExternal, Math.min(...lastExternal));
}

if (globalThis.gc !== undefined) setInterval(sample, SAMPLE_MS).unref();

function numbersOf(path) {
  const pairs = readFileSync(path, 'utf8').matchAll(/^(\w+):\s+(\d+)/gm);
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, Number(value)]));
}

process.on('exit', () => {
  const own = process.resourceUsage();
  // Of the children that have been waited for: what commands in the sandboxes used.
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [children, childrenSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  const io = numbersOf('/proc/self/io');
  const used = {
    wallSeconds: performance.now() / 1000,
    cpuSeconds:
      (own.userCPUTime + own.systemCPUTime) / 1e6 +
      ((Number(children) + Number(childrenSystem)) * TICK_MS) / 1000,
    peakRssBytes: own.maxRSS * 1024,
    peakHeapBytes: peakHeap,
    heldExternalBytes: heldExternal,
    writtenBytes: io.wchar,
    writtenToDiskBytes: io.write_bytes,
  };
  writeFileSync(target, `${JSON.stringify(used)}\n`);
});
