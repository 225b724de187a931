import { notedSession, processesOf } from './session-processes.ts';

export interface ProcessGroups {
  /**
   * Notes a group by the pid of the program that leads it. One that gives a shell a terminal, and
   * with it a session of its own, names the file in which the shell notes that session.
   */
  add(leader: number, sessionFile?: string): void;
  /** To be called when the leader's end was seen; a group without members is forgotten. */
  leaderEnded(leader: number): void;
  /** Asks a group to end, by SIGTERM: in a terminal the group of the shell. */
  terminate(leader: number): void;
  kill(leader: number): void;
  /** Kills them all, and from then on every group that is added. */
  killAll(): void;
}

interface Group {
  leaderIsAlive: boolean;
  sessionFile: string | undefined;
  /** That of the terminal, known once the leader has ended. */
  session: number | undefined;
}

/** The process groups a sandbox started and that may still have members. */
export function createProcessGroups(): ProcessGroups {
  const groups = new Map<number, Group>();
  let isOver = false;

  function kill(leader: number): void {
    const group = groups.get(leader);
    if (group !== undefined) killSession(group);
    // A number whose leader we saw end and that names a process again was given to a stranger.
    if (group?.leaderIsAlive === false && signal(leader, 0)) {
      groups.delete(leader);
      return;
    }
    signal(-leader, 'SIGKILL');
  }

  return {
    add(leader, sessionFile) {
      groups.set(leader, { leaderIsAlive: true, sessionFile, session: undefined });
      if (isOver) kill(leader);
    },
    leaderEnded(leader) {
      const group = groups.get(leader);
      if (group === undefined) return;
      group.leaderIsAlive = false;
      group.session = noted(group);
      // The shell ends before the program that gave it the terminal, unless a command killed that.
      if (group.session !== undefined && signal(group.session, 0)) killAllOf(group.session);
      const isLeft = group.session !== undefined && signal(-group.session, 0);
      if (!isLeft && !signal(-leader, 0)) groups.delete(leader);
    },
    terminate(leader) {
      const group = groups.get(leader);
      const session = group?.leaderIsAlive === true ? noted(group) : undefined;
      signal(-(session ?? leader), 'SIGTERM');
    },
    kill,
    killAll() {
      isOver = true;
      for (const leader of [...groups.keys()]) kill(leader);
    },
  };
}

function noted({ sessionFile }: Group): number | undefined {
  return sessionFile === undefined ? undefined : notedSession(sessionFile);
}

function killSession(group: Group): void {
  const session = group.leaderIsAlive ? noted(group) : group.session;
  if (session === undefined) return;
  // As above: a stranger's by now.
  if (!group.leaderIsAlive && signal(session, 0)) return;
  killAllOf(session);
}

function killAllOf(session: number): void {
  for (const pid of processesOf(session)) signal(pid, 'SIGKILL');
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
