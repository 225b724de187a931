// Loaded before the command line by `node --import`: kills the process as `kill -9` does, right
// before a chosen step that changes a file under TALARIA_TEST_UNDER. A write is cut in its middle.
// A sync is no step: a killed process leaves the same before it and after it.
//   TALARIA_TEST_KILL_AT   number of the step, from 1
//   TALARIA_TEST_KILL_ON   or: a step whose "operation path" matches this regular expression,
//   TALARIA_TEST_KILL_NTH  the first of these if absent
//   TALARIA_TEST_TRACE     or: file that gets all steps at the end
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

// biome-ignore lint/style/noProcessEnv: given by the test, not a setting of ours
const ENVIRONMENT = process.env;
const {
  TALARIA_TEST_UNDER: under = '',
  TALARIA_TEST_KILL_AT: at,
  TALARIA_TEST_KILL_ON: on,
  TALARIA_TEST_KILL_NTH: nth = '1',
  TALARIA_TEST_TRACE: trace,
} = ENVIRONMENT;
const pattern = on === undefined ? undefined : new RegExp(on);
const steps = [];
let matches = 0;
const { writeSync, writeFileSync } = fs;
const paths = new Map();

function step(operation, path, beforeEnd = () => undefined) {
  if (!String(path).includes(under)) return;
  const label = `${operation} ${path}`;
  steps.push(label);
  if (pattern?.test(label)) matches += 1;
  if (steps.length !== Number(at) && matches !== Number(nth)) return;
  beforeEnd();
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

function writeHalf(fd, bytes, offset = 0, length = bytes.length - offset) {
  writeSync(fd, bytes, offset, Math.floor(length / 2));
}

for (const name of ['rename', 'link', 'unlink', 'rm', 'mkdir', 'rmdir']) {
  const real = promises[name];
  promises[name] = (path, ...rest) => {
    step(name, path);
    return real(path, ...rest);
  };
}
for (const name of ['renameSync', 'rmSync']) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    step(name, path);
    return real(path, ...rest);
  };
}

const { open } = promises;
promises.open = async (path, flags, ...rest) => {
  if (flags !== 'r') step('open', path);
  const handle = await open(path, flags, ...rest);
  paths.set(handle.fd, String(path));
  return handle;
};
const { openSync } = fs;
fs.openSync = (path, flags, ...rest) => {
  if (flags !== 'r') step('openSync', path);
  const fd = openSync(path, flags, ...rest);
  paths.set(fd, String(path));
  return fd;
};
fs.writeSync = (fd, bytes, ...rest) => {
  step('writeSync', paths.get(fd), () => writeHalf(fd, bytes, ...rest));
  return writeSync(fd, bytes, ...rest);
};

const probe = await open(process.execPath, 'r');
const handles = Object.getPrototypeOf(probe);
await probe.close();
for (const name of ['write', 'writeFile', 'appendFile', 'truncate']) {
  const real = handles[name];
  handles[name] = function patched(data, ...rest) {
    step(name, paths.get(this.fd), () => {
      if (name === 'write') writeHalf(this.fd, data, ...rest);
    });
    return real.call(this, data, ...rest);
  };
}

syncBuiltinESMExports();
if (trace !== undefined) process.on('exit', () => writeFileSync(trace, `${steps.join('\n')}\n`));
