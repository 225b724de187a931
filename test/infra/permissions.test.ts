import { describe, expect, test } from 'vitest';
import { allowedActions } from './role-statements.ts';
import { sentActions } from './sent-actions.ts';
import { synthesise } from './synthesise.ts';

const template = synthesise({ registrySecrets: { 'registry.test': 'arn:aws:secretsmanager:x' } });

/** What Lambda does as a function's role: its log, and the events that the function failed on. */
const OF_LAMBDA = [
  ...['CreateLogStream', 'PutLogEvents'],
  ...['SendMessage', 'GetQueueAttributes', 'GetQueueUrl'],
];

const OF_PULLS = ['BatchCheckLayerAvailability', 'BatchGetImage', 'GetDownloadUrlForLayer'];

/** `besides`: allowed, though no command has that name. `unsent`: in the bundle, but never called. */
const ROLES = [
  {
    role: 'StarterRole',
    entry: 'functions/starter/handler.ts',
    // Versions are parameters; without listing, what is missing would look forbidden.
    besides: [...OF_LAMBDA, 'GetObjectVersion', 'DeleteObjectVersion', 'ListBucket'],
    unsent: [],
  },
  {
    role: 'DispatcherRole',
    entry: 'functions/dispatcher/handler.ts',
    // RunTask and RegisterTaskDefinition pass roles and set tags.
    // ECR's registry takes its token for what the role may pull.
    besides: [...OF_LAMBDA, ...OF_PULLS, 'PassRole', 'TagResource'],
    // Of the worker's objects it uses the reading ones.
    unsent: ['PutObject'],
  },
  {
    role: 'MergeRole',
    entry: 'functions/merge/handler.ts',
    // Lambda reads the table's stream.
    besides: [...OF_LAMBDA, 'DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'],
    unsent: [],
  },
  { role: 'TaskFleetRolesWorker', entry: 'containers/worker/main.ts', besides: [], unsent: [] },
];

describe.each(ROLES)('$role', ({ role, entry, besides, unsent }) => {
  test(`may do what ${entry} does, and nothing else`, async () => {
    const allowed = [...allowedActions(template, role).keys()].map(
      (action) => action.split(':')[1],
    );
    const needed = new Set([...(await sentActions(entry)), ...besides]);
    for (const action of unsent) needed.delete(action);
    expect([...new Set(allowed)].sort()).toEqual([...needed].sort());
  });
});
