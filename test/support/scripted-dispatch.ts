import { dispatch } from '../../src/core/cloud/dispatch/dispatch.ts';
import type { DispatchSettings } from '../../src/core/cloud/dispatch/dispatch-deps.ts';
import type { ImageRegistry } from '../../src/core/ports/image-registry.ts';
import { type DispatchFixture, makeDispatchFixture } from './dispatch-fixture.ts';
import { batchRecord, runRecord } from './dispatch-records.ts';
import { createScriptedFleet, type ScriptedFleet } from './scripted-fleet.ts';

/** Of one invocation, in milliseconds. */
export const BUDGET_MS = 50_000;
export const MINUTE_MS = 60_000;

export type ScriptedDispatch = DispatchFixture & { fleet: ScriptedFleet };

/** The dispatcher over a real table and queue, and a cluster that does as the test says. */
export async function scriptedDispatch(
  endpoint: string,
  settings: Partial<DispatchSettings> = {},
  registry?: ImageRegistry,
): Promise<ScriptedDispatch> {
  const fleet = createScriptedFleet();
  const of = { fleet, settings, ...(registry !== undefined && { registry }) };
  return { ...(await makeDispatchFixture(endpoint, of)), fleet };
}

/** The same, with batch 0 of the run `run` launched. */
export async function launchedDispatch(
  endpoint: string,
  settings: Partial<DispatchSettings> = {},
): Promise<ScriptedDispatch> {
  const at = await scriptedDispatch(endpoint, settings);
  await at.putRun(runRecord('run'));
  await at.putBatch(batchRecord('run', 0));
  await dispatch(at.deps, BUDGET_MS);
  return at;
}
