import { describe, expect, it } from 'vitest';
import type { TaskStop } from '../../../src/core/cloud/launch-record.ts';
import {
  isForWantOfRoom,
  kindOfStop,
  LEASE_RAN_OUT,
  type StopKind,
  wordsOfStop,
} from '../../../src/core/cloud/stop-reason.ts';

const FAILED = 'TaskFailedToStart';
const EXITED = 'EssentialContainerExited';

function stop(code: string, reason = '', containers: TaskStop['containers'] = []): TaskStop {
  return { code, reason, containers };
}

function exit(name: string, code: number | null, reason = '') {
  return { name, exit_code: code, reason };
}

describe('who ended a task', () => {
  it.each<[string, StopKind, TaskStop]>([
    [
      'a manifest that is not there',
      'image',
      stop(
        FAILED,
        'CannotPullContainerError: pull image manifest has been retried 5 time(s): failed to resolve ref docker.io/library/x:1: docker.io/library/x:1: not found',
      ),
    ],
    [
      'a registry that denies',
      'image',
      stop(
        FAILED,
        'CannotPullContainerError: pull access denied, repository does not exist or may require authorization',
      ),
    ],
    [
      'a manifest that is none',
      'image',
      stop(FAILED, 'CannotPullContainerError: invalid reference format'),
    ],
    [
      'another platform',
      'image',
      stop(
        FAILED,
        'CannotPullContainerError: image Manifest does not contain descriptor matching platform linux/amd64: no match for platform in manifest',
      ),
    ],
    [
      'an image that fills the disk',
      'image',
      stop(
        FAILED,
        'CannotPullContainerError: failed to extract layer: write /x: no space left on device',
      ),
    ],
    [
      'a container that can not start',
      'image',
      stop(FAILED, 'Task failed to start', [
        exit('sandbox-0', null, 'CannotStartContainerError: exec format error'),
      ]),
    ],
    [
      'a sandbox that ends before its daemon answers',
      'image',
      stop(EXITED, 'Essential container in task exited', [exit('sandbox-1', 1), exit('agent', 1)]),
    ],
    [
      'a worker that no sandbox answers',
      'image',
      stop(EXITED, 'Essential container in task exited', [
        exit('sandbox-0', 137),
        exit('agent', 4),
      ]),
    ],
    [
      'a registry with too many askers',
      'start',
      stop(
        FAILED,
        'CannotPullContainerError: toomanyrequests: You have reached your pull rate limit',
      ),
    ],
    [
      'a registry that is slow',
      'start',
      stop(
        FAILED,
        'CannotPullContainerError: ref pull has been retried 5 time(s): failed to copy: dial tcp 1.2.3.4:443: i/o timeout',
      ),
    ],
    [
      'the worker’s own image',
      'start',
      stop(FAILED, 'CannotPullContainerError: not found', [
        exit('agent', null, 'CannotPullContainerError: worker:1: not found'),
      ]),
    ],
    [
      'a secret that is not there',
      'start',
      stop(
        FAILED,
        'ResourceInitializationError: unable to pull secrets or registry auth: execution resource retrieval failed: ResourceNotFoundException',
      ),
    ],
    [
      'no network interface',
      'start',
      stop(FAILED, 'Timeout waiting for network interface provisioning to complete.'),
    ],
    ['Spot', 'interrupted', stop('SpotInterruption', 'Your Spot Task was interrupted.')],
    ['ECS itself', 'interrupted', stop('TerminationNotice', 'ECS is performing maintenance')],
    ['a person', 'interrupted', stop('UserInitiated', 'Task stopped by user')],
    ['a worker without a lease', 'ended', stop('UserInitiated', LEASE_RAN_OUT)],
    [
      'a worker that died, and took its sandboxes along',
      'ended',
      stop(EXITED, 'Essential container in task exited', [
        exit('agent', 1),
        exit('sandbox-0', 137),
      ]),
    ],
    ['nobody knows', 'ended', stop('', 'ECS no longer knows the task')],
  ])('%s: %s', (_, kind, of) => {
    expect(kindOfStop(of)).toBe(kind);
  });

  it('tells want of room from all else', () => {
    expect(isForWantOfRoom(stop('Refused:capacity', 'any'))).toBe(true);
    expect(isForWantOfRoom(stop(FAILED, 'Capacity is unavailable at this time.'))).toBe(true);
    expect(isForWantOfRoom(stop('Refused:other', 'no'))).toBe(false);
  });

  it('has words for people, never too many', () => {
    const of = stop(EXITED, 'Essential container in task exited', [
      exit('sandbox-0', 1, 'CannotStartContainerError'),
    ]);
    expect(wordsOfStop(of)).toBe(
      'Essential container in task exited; sandbox-0: CannotStartContainerError; sandbox-0 exited with 1',
    );
    expect(wordsOfStop(stop(FAILED, 'x'.repeat(9_999)))).toHaveLength(500);
    expect(wordsOfStop(stop('', ''))).not.toBe('');
  });
});
