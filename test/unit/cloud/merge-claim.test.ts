import { describe, expect, it } from 'vitest';
import { dueMerge } from '../../../src/core/cloud/merge-claim.ts';
import { type CloudRunState, RUN_STATES } from '../../../src/core/cloud/run-record.ts';
import { runRecord } from '../../support/closed-run.ts';

const NOW = 1_000;

describe('dueMerge', () => {
  const due: Partial<Record<CloudRunState, string>> = {
    running: 'running',
    cancelling: 'cancelling',
    merging: 'running',
    paused: 'paused',
  };

  it.each(RUN_STATES)('of a %s run all of whose batches are merged', (state) => {
    const run = { ...runRecord('r', 2), state, batches_merged: 2 };
    expect(dueMerge(run, NOW)).toBe(due[state]);
    expect(dueMerge({ ...run, merge_lease_until: NOW + 1 }, NOW)).toBeUndefined();
    expect(dueMerge({ ...run, merge_lease_until: NOW }, NOW)).toBe(due[state]);
  });

  it('waits for the last batch, but for runs that are paused', () => {
    const run = { ...runRecord('r', 2), batches_merged: 1 };
    expect(dueMerge(run, NOW)).toBeUndefined();
    expect(dueMerge({ ...run, state: 'cancelling' }, NOW)).toBeUndefined();
    expect(dueMerge({ ...run, state: 'paused' }, NOW)).toBe('paused');
  });

  it('remembers what the run was before a merge that died', () => {
    const run = { ...runRecord('r', 0), state: 'merging' as const };
    expect(dueMerge({ ...run, merging_from: 'cancelling' }, NOW)).toBe('cancelling');
  });
});
