import type { ToolContext } from './tool.ts';
import { parseV4a } from './v4a/parse-v4a.ts';
import { type Plan, planChanges } from './v4a/plan-changes.ts';
import { takeSteps } from './v4a/take-steps.ts';

const MAX_PROBLEMS = 5;

export type PatchedFiles =
  | { ok: true; diff: string; files: Record<string, string[]> }
  | { ok: false; error: string };

/** Does what a V4A patch says to all its files, or to none. */
export async function patchFiles(patch: string, { sandbox }: ToolContext): Promise<PatchedFiles> {
  const parsed = parseV4a(patch);
  if (!parsed.ok) return { ok: false, error: `patch: nothing was changed: ${parsed.error}` };
  const plan = await planChanges(parsed.changes, sandbox);
  if (plan.problems.length > 0) return { ok: false, error: refusal(plan.problems) };
  const failure = await takeSteps(plan.steps, sandbox);
  if (failure === undefined) return { ok: true, diff: plan.diff, files: filesOf(plan) };
  const rest =
    failure.notRestored.length === 0
      ? 'what was written before is put back, nothing is changed'
      : `these could not be put back and need a look: ${failure.notRestored.join(', ')}`;
  return { ok: false, error: `patch: ${failure.reason}; ${rest}` };
}

function refusal(problems: readonly string[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const more = problems.length - shown.length;
  const tail = more === 0 ? '' : `\n(and ${more} more)`;
  return `patch: nothing was changed, in no file:\n${shown.join('\n')}${tail}`;
}

function filesOf({ steps }: Plan): Record<string, string[]> {
  const files: Record<string, string[]> = {
    files_modified: pathsOf(steps, 'write'),
    files_created: pathsOf(steps, 'create'),
    files_deleted: pathsOf(steps, 'delete'),
    files_moved: steps.flatMap((step) =>
      step.kind === 'move' ? [`${step.path} -> ${step.to}`] : [],
    ),
  };
  const filled = Object.entries(files).filter(
    ([name, paths]) => name === 'files_modified' || paths.length > 0,
  );
  return Object.fromEntries(filled);
}

function pathsOf(steps: Plan['steps'], kind: string): string[] {
  return [...new Set(steps.filter((step) => step.kind === kind).map(({ path }) => path))];
}
