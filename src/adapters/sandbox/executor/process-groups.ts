export interface ProcessGroups {
  /** Notes a group by the pid of the shell that leads it. */
  add(leader: number): void;
  /** To be called when the leader's end was seen; a group without members is forgotten. */
  leaderEnded(leader: number): void;
  kill(leader: number): void;
  /** Kills them all, and from then on every group that is added. */
  killAll(): void;
}

/** The process groups a sandbox started and that may still have members. */
export function createProcessGroups(): ProcessGroups {
  const leaderIsAlive = new Map<number, boolean>();
  let isOver = false;

  function kill(leader: number): void {
    // A number whose leader we saw end and that names a process again was given to a stranger.
    if (leaderIsAlive.get(leader) === false && signal(leader, 0)) {
      leaderIsAlive.delete(leader);
      return;
    }
    signal(-leader, 'SIGKILL');
  }

  return {
    add(leader) {
      leaderIsAlive.set(leader, true);
      if (isOver) kill(leader);
    },
    leaderEnded(leader) {
      if (signal(-leader, 0)) leaderIsAlive.set(leader, false);
      else leaderIsAlive.delete(leader);
    },
    kill,
    killAll() {
      isOver = true;
      for (const leader of [...leaderIsAlive.keys()]) kill(leader);
    },
  };
}

/** Whether somebody received it. */
function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, name);
  } catch (error) {
    // There, but not ours to signal.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
