// Loaded before the command line by `node --import`: runs a shell command, once, right before a
// chosen step that changes a file, so that a real fault meets exactly that step.
//   TALARIA_TEST_FAULT      the shell command
//   TALARIA_TEST_FAULT_ON   a step whose "operation path" matches this regular expression,
//   TALARIA_TEST_FAULT_NTH  the first of these if absent
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

// biome-ignore lint/style/noProcessEnv: given by the test, not a setting of ours
const ENVIRONMENT = process.env;
const {
  TALARIA_TEST_FAULT: command = '',
  TALARIA_TEST_FAULT_ON: on = '',
  TALARIA_TEST_FAULT_NTH: nth = '1',
} = ENVIRONMENT;
const pattern = new RegExp(on);
const paths = new Map();
let matches = 0;

function step(operation, path) {
  if (!pattern.test(`${operation} ${path}`)) return;
  matches += 1;
  if (matches === Number(nth)) spawnSync('/bin/sh', ['-c', command], { stdio: 'ignore' });
}

for (const [of, names] of [
  [promises, ['rename', 'link', 'unlink', 'rm', 'mkdir', 'rmdir']],
  [fs, ['renameSync', 'rmSync', 'mkdirSync', 'mkdtempSync']],
]) {
  for (const name of names) {
    const real = of[name];
    of[name] = (path, ...rest) => {
      step(name, path);
      return real(path, ...rest);
    };
  }
}

const { open } = promises;
promises.open = async (path, flags, ...rest) => {
  if (flags !== 'r') step('open', path);
  const handle = await open(path, flags, ...rest);
  paths.set(handle.fd, String(path));
  return handle;
};
const { openSync, writeSync } = fs;
fs.openSync = (path, flags, ...rest) => {
  if (flags !== 'r') step('open', path);
  const fd = openSync(path, flags, ...rest);
  paths.set(fd, String(path));
  return fd;
};
fs.writeSync = (fd, ...rest) => {
  step('write', paths.get(fd));
  return writeSync(fd, ...rest);
};

const probe = await open(process.execPath, 'r');
const handles = Object.getPrototypeOf(probe);
await probe.close();
for (const [name, operation] of [
  ['write', 'write'],
  ['writeFile', 'write'],
  ['appendFile', 'write'],
  ['truncate', 'truncate'],
  ['datasync', 'sync'],
  ['sync', 'sync'],
]) {
  const real = handles[name];
  handles[name] = function patched(...args) {
    step(operation, paths.get(this.fd));
    return real.apply(this, args);
  };
}

syncBuiltinESMExports();
