import { type Sandbox, SandboxFileError } from '../../ports/sandbox.ts';
import { applyEdits } from '../find-occurrences.ts';
import { decodeStrictly } from '../safe-text.ts';
import { shownError } from '../shown-error.ts';
import { readTextFile } from '../text-file.ts';
import { unifiedDiff } from '../unified-diff.ts';
import { hunkEdits } from './apply-hunks.ts';
import { isThere } from './is-there.ts';
import type { FileChange } from './parse-v4a.ts';

/** One thing to do to the sandbox's files; `before` and `after` are the whole content. */
export type Step =
  | { kind: 'create'; path: string; after: string }
  | { kind: 'write'; path: string; before: string; after: string }
  | { kind: 'delete'; path: string; before: Uint8Array }
  | { kind: 'move'; path: string; to: string };

export interface Plan {
  steps: Step[];
  /** Unified diffs, one file after another. */
  diff: string;
  /** What can't be done, each naming its file; then nothing shall be. */
  problems: string[];
}

const MAX_DELETED = 10_000_000;
const DEV_NULL = '/dev/null';

/** Works out, from the files as they are, all that a patch does; writes nothing. */
export async function planChanges(changes: readonly FileChange[], sandbox: Sandbox): Promise<Plan> {
  /** Contents as the patch has left them so far; null for a path it has freed. */
  const known = new Map<string, string | null>();
  const plan: Plan = { steps: [], diff: '', problems: [] };

  for (const change of changes) {
    try {
      await planOne(change);
    } catch (error) {
      if (!(error instanceof SandboxFileError)) throw error;
      plan.problems.push(shownError(error));
    }
  }
  return plan;

  async function planOne(change: FileChange): Promise<void> {
    switch (change.kind) {
      case 'add':
        return planAdd(change.path, change.lines);
      case 'delete':
        return planDelete(change.path);
      case 'update':
        return planUpdate(change);
    }
  }

  async function planAdd(path: string, lines: readonly string[]): Promise<void> {
    const after = lines.map((line) => `${line}\n`).join('');
    await assertFree(path, 'use "*** Update File" to change it, or write_file to replace it');
    plan.steps.push({ kind: 'create', path, after });
    plan.diff += withNames(diffOf(path, '', after), DEV_NULL, `b/${path}`);
    known.set(keyOf(path), after);
  }

  async function planDelete(path: string): Promise<void> {
    const before = await bytesOf(path);
    plan.steps.push({ kind: 'delete', path, before });
    plan.diff += `--- a/${path}\n+++ ${DEV_NULL}\n`;
    known.set(keyOf(path), null);
  }

  async function planUpdate(change: Extract<FileChange, { kind: 'update' }>): Promise<void> {
    const { path, hunks, moveTo } = change;
    const target = moveTo === '' || keyOf(moveTo) === keyOf(path) ? path : moveTo;
    if (target !== path) await assertFree(target, 'delete it first, or move to another path');
    // A mere move takes any file, also a binary one.
    const before = hunks.length > 0 ? await textOf(path) : await assertThere(path);
    if (target !== path) {
      plan.steps.push({ kind: 'move', path, to: target });
      known.set(keyOf(path), null);
    }
    if (before === undefined) plan.diff += `rename from ${path}\nrename to ${target}\n`;
    else planWrite(path, target, before, hunks);
  }

  function planWrite(
    path: string,
    target: string,
    before: string,
    hunks: Extract<FileChange, { kind: 'update' }>['hunks'],
  ): void {
    const found = hunkEdits(before, hunks);
    if (!found.ok) {
      plan.problems.push(...found.problems.map((problem) => `${path}: ${problem}`));
      return;
    }
    const after = applyEdits(before, found.edits);
    plan.steps.push({ kind: 'write', path: target, before, after });
    plan.diff += withNames(unifiedDiff(path, before, found.edits), `a/${path}`, `b/${target}`);
    known.set(keyOf(target), after);
  }

  async function textOf(path: string): Promise<string> {
    const planned = plannedText(path);
    if (planned !== undefined) return planned;
    const text = decodeStrictly((await readTextFile(sandbox, path)).bytes);
    if (text !== undefined) return text;
    throw new SandboxFileError(
      `${path}: is not UTF-8, and a patch would damage it; use terminal with sed or python`,
      'io',
    );
  }

  async function bytesOf(path: string): Promise<Uint8Array> {
    const planned = plannedText(path);
    if (planned !== undefined) return new TextEncoder().encode(planned);
    const { bytes, size } = await sandbox.readFile(path, MAX_DELETED);
    if (size <= MAX_DELETED) return bytes;
    throw new SandboxFileError(
      `${path}: expected at most ${MAX_DELETED} bytes to delete, got ${size}; use terminal with rm`,
      'io',
    );
  }

  async function assertThere(path: string): Promise<undefined> {
    if (plannedText(path) === undefined) await sandbox.readFile(path, 0);
    return undefined;
  }

  async function assertFree(path: string, wayOut: string): Promise<void> {
    if (known.get(keyOf(path)) === null) return;
    if (known.has(keyOf(path)) || (await isThere(path, sandbox))) {
      throw new SandboxFileError(`${path}: is there already; ${wayOut}`, 'exists');
    }
  }

  function plannedText(path: string): string | undefined {
    const planned = known.get(keyOf(path));
    if (planned !== null) return planned;
    throw new SandboxFileError(
      `${path}: was deleted or moved earlier in this patch; name each file once`,
      'io',
    );
  }
}

/** One spelling for the plain ways to write a path; others are caught when steps are taken. */
function keyOf(path: string): string {
  return path.replace(/^(?:\.\/+)+/, '').replace(/\/+/g, '/');
}

function diffOf(path: string, before: string, after: string): string {
  return unifiedDiff(path, before, [{ start: 0, end: before.length, text: after }]);
}

function withNames(diff: string, from: string, to: string): string {
  return diff.replace(/^.*\n.*\n/, () => `--- ${from}\n+++ ${to}\n`);
}
