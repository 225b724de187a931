import { expect, it } from 'vitest';
import { createBuildSteps } from '../../../src/adapters/sandbox/docker/build-steps.ts';

it('tells images that a build made from those that it began with', () => {
  const steps = createBuildSteps();
  const lines = [
    'Step 1/5 : ARG BASE=base',
    '\n',
    'Step 2/5 : FROM $BASE AS first',
    ' ---> aaaaaaaaaaaa\n',
    'Step 3/5 : RUN true',
    ' ---> Running in 999999999999\n',
    'Removing intermediate container 999999999999\n',
    ' ---> bbbbbbbbbbbb\n',
    'Step 4/5 : FROM scratch',
    ' ---> \n',
    'Step 5/5 : COPY --from=first /a /a',
    ' ---> Using cache\n',
    ' ---> cccccccccccc\n',
  ];
  for (const stream of lines) steps.add({ stream });
  steps.add({ aux: { ID: 'sha256:cc' } });
  steps.add({ stream: 'Successfully built cccccccccccc\n' });
  expect(steps.ids()).toEqual(['sha256:cc', 'cccccccccccc', 'bbbbbbbbbbbb']);
  expect(steps.end()).toEqual({ image: 'sha256:cc', failure: undefined });
  steps.add({ error: 'no', errorDetail: { message: 'no' } });
  expect(steps.end().failure).toBe('no');
});
