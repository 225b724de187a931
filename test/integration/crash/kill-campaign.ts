import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { completeLines } from '../../support/run-files.ts';
import type { Flags, TalariaProcess, Workshop } from '../../support/talaria-process.ts';
import type { Random } from './seeded-random.ts';

/** When a process is killed: at a moment, or at once when the run's files are in a state. */
type Moment = { label: string; isNow(): boolean };

export interface Campaign {
  kills: number;
  /** Starts after the first. */
  resumes: number;
  /** How often each kind of moment came. */
  moments: Record<string, number>;
  /** Exit code of the last start, which nobody killed. */
  code: number | null;
}

/**
 * Starts a run and kills it (`kill -9`), at moments that the seed decides, until it has been killed
 * `kills` times; then lets it end. Once nothing is left to do, it is killed while it merges.
 */
export async function runCampaign(
  workshop: Workshop,
  flags: Flags,
  kills: number,
  random: Random,
): Promise<Campaign> {
  const campaign: Campaign = { kills: 0, resumes: 0, moments: {}, code: null };
  for (let starts = 0; campaign.kills < kills; starts += 1) {
    if (starts > 4 * kills) throw new Error(`${campaign.kills} kills only in ${starts} starts`);
    const process = workshop.start({ ...flags, resume: starts > 0 });
    if (starts > 0) campaign.resumes += 1;
    const label = await killAtMoment(process, moment(workshop.folder(), random));
    if ((await process.ended).signal !== 'SIGKILL') continue;
    campaign.kills += 1;
    campaign.moments[label] = (campaign.moments[label] ?? 0) + 1;
  }
  campaign.resumes += 1;
  campaign.code = (await workshop.run({ ...flags, resume: true })).code;
  return campaign;
}

async function killAtMoment(process: TalariaProcess, { label, isNow }: Moment): Promise<string> {
  // Looks as often as it can: some states last for less than a millisecond.
  while (!process.hasEnded() && !isNow()) await nextTurn();
  process.kill('SIGKILL');
  return label;
}

function moment(folder: string, random: Random): Moment {
  const ledger = join(folder, 'ledger.jsonl');
  const from = performance.now();
  // From the start of the process on, reading its program included.
  const delay = random.between(50, 900);
  const isLate = () => performance.now() > from + delay;
  const entriesBefore = completeLines(ledger).length;
  const wanted = random.between(1, 4);
  const hasFile = (pattern: RegExp) => () =>
    existsSync(folder) && readdirSync(folder).some((name) => pattern.test(name));
  return random.pick<Moment>([
    { label: 'at any time', isNow: isLate },
    { label: 'at any time', isNow: isLate },
    {
      label: 'after some results',
      isNow: () => completeLines(ledger).length >= entriesBefore + wanted,
    },
    { label: 'row without ledger entry', isNow: rowsOutgrow(folder, ledger) },
    { label: 'batch closing', isNow: hasFile(/^(batch|discarded|failed)_\d+\.jsonl\.tmp$/) },
    { label: 'merging', isNow: hasFile(/^(trajectories|failed|statistics|README).*\.tmp$/) },
  ]);
}

/** True once an open batch has grown and the ledger has not yet. */
function rowsOutgrow(folder: string, ledger: string): () => boolean {
  let before = { rows: 0, entries: 0 };
  return () => {
    if (!existsSync(folder)) return false;
    const open = readdirSync(folder).filter((name) => name.includes('.open.'));
    const rows = open.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
    const entries = sizeOf(ledger);
    const outgrown = rows > before.rows && entries === before.entries && before.entries > 0;
    before = { rows, entries };
    return outgrown;
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
