import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';

const EVERY_MS = 3_600_000;
/** Longer than any run should wait for its next launch of an image. */
const UNUSED_MS = 7 * 24 * 3_600_000;
/** ECS changes few definitions a second. */
const PAUSE_MS = 1_000;
const HASH = /^[0-9a-f]{64}$/;

/** Once an hour, takes task definitions out of use that nobody has started for a week. */
export async function sweepDefinitions(
  deps: DispatchDeps,
  time: WorkTime,
  sweptAt: number,
): Promise<void> {
  const { clock, definitions, fleet, lease, settings } = deps;
  if (clock.now() - sweptAt < EVERY_MS) return;
  await lease.swept('definitions', clock.now());
  const prefix = `${settings.task.family}-`;
  for (const family of await fleet.families(prefix)) {
    if (!time.isLeft()) return;
    await time.hold();
    const hash = family.slice(prefix.length);
    // Of another stack, whose name begins as this one's.
    if (!HASH.test(hash)) continue;
    const known = await definitions.find(hash);
    const usedAt = known?.usedAt ?? 0;
    if (clock.now() - usedAt < UNUSED_MS) continue;
    if (!(await definitions.forget(hash, usedAt))) continue;
    await fleet.deregister(family);
    deps.log('definition_dropped', { family });
    await clock.sleep(PAUSE_MS);
  }
}
