import { type Sandbox, SandboxFileError } from '../../ports/sandbox.ts';
import { isThere } from './is-there.ts';
import type { Step } from './plan-changes.ts';

/** A patch that failed half way: what was done before is undone. */
export interface StepsFailure {
  /** Why, naming the file. */
  reason: string;
  /** Paths that could not be put back. */
  notRestored: string[];
}

/**
 * Takes a plan's steps, or none: where one fails, those before are undone in reverse. Checks before
 * each write that the file is still what the plan was made from. Throws `SandboxLostError`.
 */
export async function takeSteps(
  steps: readonly Step[],
  sandbox: Sandbox,
): Promise<StepsFailure | undefined> {
  const done: Step[] = [];
  for (const step of steps) {
    try {
      await take(step, sandbox);
      done.push(step);
    } catch (error) {
      if (!(error instanceof SandboxFileError)) throw error;
      return { reason: error.message, notRestored: await undo(done, sandbox) };
    }
  }
  return undefined;
}

async function take(step: Step, sandbox: Sandbox): Promise<void> {
  switch (step.kind) {
    case 'create':
      if (await isThere(step.path, sandbox)) throw changedMeanwhile(step.path, 'exists');
      return sandbox.writeFile(step.path, encoded(step.after));
    case 'write':
      await assertUnchanged(step.path, encoded(step.before), sandbox);
      return sandbox.writeFile(step.path, encoded(step.after));
    case 'delete':
      await assertUnchanged(step.path, step.before, sandbox);
      return sandbox.deleteFile(step.path);
    case 'move':
      return sandbox.moveFile(step.path, step.to);
  }
}

async function undo(done: readonly Step[], sandbox: Sandbox): Promise<string[]> {
  const notRestored: string[] = [];
  for (const step of done.toReversed()) {
    try {
      await takeBack(step, sandbox);
    } catch (error) {
      if (!(error instanceof SandboxFileError)) throw error;
      notRestored.push(step.path);
    }
  }
  return notRestored;
}

function takeBack(step: Step, sandbox: Sandbox): Promise<void> {
  switch (step.kind) {
    case 'create':
      return sandbox.deleteFile(step.path);
    case 'write':
      return sandbox.writeFile(step.path, encoded(step.before));
    case 'delete':
      return sandbox.writeFile(step.path, step.before);
    case 'move':
      return sandbox.moveFile(step.to, step.path);
  }
}

/** One file under two names, or a process that writes meanwhile, would else lose a change. */
async function assertUnchanged(path: string, planned: Uint8Array, sandbox: Sandbox): Promise<void> {
  const { bytes, size } = await sandbox.readFile(path, planned.length);
  if (size === planned.length && bytes.every((byte, index) => byte === planned[index])) return;
  throw changedMeanwhile(path, 'io');
}

function changedMeanwhile(path: string, code: 'exists' | 'io'): SandboxFileError {
  return new SandboxFileError(
    `${path}: was changed meanwhile, or is in the patch under two names; read it again, and name each file once`,
    code,
  );
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
