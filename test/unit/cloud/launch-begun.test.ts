import { expect, it } from 'vitest';
import { hasBegun } from '../../../src/core/cloud/launch-end.ts';
import { launchRecordSchema } from '../../../src/core/cloud/launch-record.ts';
import { batchRecord } from '../../support/dispatch-records.ts';

const launch = launchRecordSchema.parse({
  token: 't',
  run_name: 'run',
  batch: 0,
  launch: 2,
  image: '',
  task_definition: '',
  sandboxes: 2,
  remaining: 2,
  starts: 1,
  spot: false,
  task_arn: '',
  launched_at: 0,
  is_claimed: false,
  stop: null,
});

it.each([
  ['nothing that is new', { remaining: 2, starts: { 0: 1 } }, false],
  ['what an earlier launch began', { begun_by: 1, starts: { 0: 1 } }, false],
  ['a prompt that ended', { remaining: 1 }, true],
  ['a prompt that was started', { starts: { 0: 1, 1: 1 } }, true],
  // Its attempt is to be made again, or it was handed back: neither is left in the counts.
  ['a prompt that was begun', { begun_by: 2 }, true],
])('sees %s', (_, fields, expected) => {
  expect(hasBegun(launch, batchRecord('run', 0, fields))).toBe(expected);
});
