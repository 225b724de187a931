import { CLAIMABLE_STATES, type RunRecord, type Upload } from './run-record.ts';

/** What an upload means to its run. */
export type ClaimDecision =
  /** The run's first pass. */
  | 'begin'
  /** A further pass. */
  | 'claim'
  /** The run is busy: the next pass, when it has ended. */
  | 'keep'
  /** The event of the pass that is being planned: its planner may have died. */
  | 'resume'
  /** Of a version that is known, or older than one that is. */
  | 'ignore';

/** Decides by the run as it was read; whoever acts on it makes sure that it is still so. */
export function decideClaim(run: RunRecord | undefined, upload: Upload): ClaimDecision {
  if (run === undefined) return 'begin';
  const known = Object.hasOwn(run.sequencers, upload.key) ? run.sequencers[upload.key] : undefined;
  if (known !== undefined && compareSequencers(upload.sequencer, known) <= 0) {
    const isPlanned = run.planner !== null && run.dataset.version_id === upload.version_id;
    return isPlanned ? 'resume' : 'ignore';
  }
  return CLAIMABLE_STATES.includes(run.state) ? 'claim' : 'keep';
}

/** Negative where `a` is the older event of one key: hexadecimal, the shorter one padded with zeros. */
export function compareSequencers(a: string, b: string): number {
  const length = Math.max(a.length, b.length);
  const [first, second] = [a, b].map((text) => text.toUpperCase().padEnd(length, '0'));
  if (first === second || first === undefined || second === undefined) return 0;
  return first < second ? -1 : 1;
}
