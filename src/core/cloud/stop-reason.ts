import type { TaskStop } from './launch-record.ts';
import { AGENT } from './task-definition.ts';

/**
 * Who ended a task. `image`: it can't be pulled or started, whatever is tried; `interrupted`: Spot, ECS
 * or a person took it away; `start`: it never came up for another reason; `ended`: by itself.
 */
export type StopKind = 'image' | 'interrupted' | 'start' | 'ended';

/** Reasons of our own StopTask calls begin so. */
export const OUR_STOP = 'talaria: ';
/** Our stop of a task whose worker no longer renewed its lease: that is the worker's end, not ours. */
export const LEASE_RAN_OUT = `${OUR_STOP}its lease ran out`;

/** Exit code of a worker whose sandboxes gave no answer, none of them. */
const NO_SANDBOX = 4;
const SANDBOX = /^sandbox-/;
/** Faults of a pull that the same image will have again. */
const GONE =
  /not found|manifest unknown|name unknown|does not exist|repository.*denied|pull access denied|requested access.*denied|no basic auth|unauthorized|invalid reference|manifest.*(invalid|unsupported|schema)|no match(ing)? (for platform|manifest)|does not match the specified platform|image.*platform|no space left/i;
/** Faults of a pull that pass, whatever else the words say. */
const PASSING =
  /toomanyrequests|too many requests|rate limit|429|timeout|timed out|deadline exceeded|i\/o|connection (reset|refused)|no such host|temporar|50[0234]|EOF|ref pull has been retried .* (dial|net)/i;
const CANNOT_PULL = /CannotPull(Container|ImageManifest)?\w*|unable to pull image/;
const CANNOT_START =
  /exec format error|executable file not found|no such file or directory|CannotStartContainerError|CannotCreateContainerError|OCI runtime create failed|unable to start container process/i;
const INTERRUPTED = /spot|retire|maintenance|host (termination|failure)|scaling|TerminationNotice/i;
/** Exit codes that kills leave: 128 + SIGKILL, SIGTERM. */
const KILLED = new Set([137, 143]);

/** What a stop before any claim says. */
export function kindOfStop(stop: TaskStop): StopKind {
  if (blamesImage(stop)) return 'image';
  if (stop.code === 'SpotInterruption' || stop.code === 'TerminationNotice') return 'interrupted';
  if (stop.code === 'UserInitiated') {
    return stop.reason.startsWith(LEASE_RAN_OUT) ? 'ended' : 'interrupted';
  }
  if (stop.code === 'TaskFailedToStart') return 'start';
  return stop.code !== 'EssentialContainerExited' && INTERRUPTED.test(stop.reason)
    ? 'interrupted'
    : 'ended';
}

/** A task that RunTask refused never was; its stop code begins so, then comes why. */
export const REFUSED = 'Refused:';
const NO_ROOM = /capacity is unavailable|RESOURCE:|insufficient capacity/i;

/** Whether a task did not start because there was no room for one more. */
export function isForWantOfRoom({ code, reason }: TaskStop): boolean {
  return code === `${REFUSED}capacity` || code === `${REFUSED}throttled` || NO_ROOM.test(reason);
}

function blamesImage(stop: TaskStop): boolean {
  const sandboxes = stop.containers.filter(({ name }) => SANDBOX.test(name));
  const told = stop.containers.filter(({ reason }) => reason !== '');
  // Without any container's words, the task's are about whichever failed.
  const faults = told.length === 0 ? [{ name: 'sandbox-0', reason: stop.reason }] : told;
  if (faults.some(({ name, reason }) => SANDBOX.test(name) && isImageFault(reason))) return true;
  if (stop.code !== 'EssentialContainerExited') return false;
  if (stop.containers.some((of) => of.name === AGENT && of.exit_code === NO_SANDBOX)) return true;
  // Its daemon ends with 0 where the agent goes first, and by a signal with the task.
  return sandboxes.some(({ exit_code: code }) => code !== null && code !== 0 && !KILLED.has(code));
}

function isImageFault(words: string): boolean {
  if (CANNOT_START.test(words)) return true;
  return CANNOT_PULL.test(words) && GONE.test(words) && !PASSING.test(words);
}

/** The most telling words of a stop, at most 500 characters, for people. */
export function wordsOfStop(stop: TaskStop): string {
  const own = stop.containers
    .filter(({ reason }) => reason !== '')
    .map(({ name, reason }) => `${name}: ${reason}`);
  const exits = stop.containers
    .filter(({ exit_code: code }) => code !== null && code !== 0)
    .map(({ name, exit_code: code }) => `${name} exited with ${code}`);
  const words = [stop.reason || stop.code || 'the task ended', ...own, ...exits].join('; ');
  return words.length > 500 ? `${words.slice(0, 499)}…` : words;
}
