import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSequencers, decideClaim } from '../../../src/core/cloud/claim-decision.ts';
import type { Planner, RunRecord, Upload } from '../../../src/core/cloud/run-record.ts';
import { runRecord } from '../../support/dispatch-records.ts';

const KEY = 'datasets/run/d.jsonl';
const upload = (sequencer: string, version: string, key = KEY): Upload => ({
  key,
  version_id: version,
  sequencer,
  config_version_id: '',
});
const PLANNER: Planner = {
  owner: 'somebody',
  lease_until: 0,
  tries: 1,
  problem: '',
  claimed_at: 1,
  from_state: null,
  first_batch: 0,
  batches_put: 0,
};
const run = (of: Partial<RunRecord>) =>
  runRecord('run', { dataset: upload('0A', 'v1'), sequencers: { [KEY]: '0A' }, ...of });

describe('decideClaim', () => {
  it.each([
    ['no run', undefined, upload('0A', 'v1'), 'begin'],
    ['a later version, run done', run({ state: 'done' }), upload('0B', 'v2'), 'claim'],
    ['a later version, run paused', run({ state: 'paused' }), upload('0B', 'v2'), 'claim'],
    ['a later version, run pausing', run({ state: 'pausing' }), upload('0B', 'v2'), 'keep'],
    ['a later version, run planning', run({ state: 'planning' }), upload('0B', 'v2'), 'keep'],
    [
      'another key, run done',
      run({ state: 'done' }),
      upload('01', 'v9', 'datasets/run/e.jsonl'),
      'claim',
    ],
    [
      'a key called as what all objects have',
      run({ state: 'done' }),
      upload('01', 'v9', 'constructor'),
      'claim',
    ],
    ['the same event, run done', run({ state: 'done' }), upload('0A', 'v1'), 'ignore'],
    [
      'the same event, being planned',
      run({ state: 'planning', planner: PLANNER }),
      upload('0A', 'v1'),
      'resume',
    ],
    ['the same event, messages missing', run({ planner: PLANNER }), upload('0A', 'v1'), 'resume'],
    [
      'an older event, being planned',
      run({ state: 'planning', planner: PLANNER }),
      upload('09', 'v0'),
      'ignore',
    ],
  ] as const)('%s', (_name, read, came, decision) => {
    expect(decideClaim(read, came)).toBe(decision);
  });
});

describe('compareSequencers', () => {
  it('pads the shorter one on the right, whatever the case of letters', () => {
    expect(compareSequencers('0055AED6DCD90281E5', '0055aed6dcd90281e5')).toBe(0);
    expect(compareSequencers('0A', '0A00')).toBe(0);
    expect(compareSequencers('0B', '0A1')).toBeGreaterThan(0);
  });

  it('orders as the padded numbers do', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 20 });
    const numberOf = (text: string) => BigInt(`0x${text.padEnd(20, '0')}`);
    fc.assert(
      fc.property(hex, hex, (a, b) => {
        const [first, second] = [numberOf(a), numberOf(b)];
        const expected = first < second ? -1 : first > second ? 1 : 0;
        expect(compareSequencers(a, b)).toBe(expected);
      }),
    );
  });
});
