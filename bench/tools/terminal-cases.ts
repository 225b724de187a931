import { type Case, SAFE_BYTES } from './case.ts';

export const TERMINAL: Case[] = [
  { tool: 'terminal', args: { command: 'echo out; echo err >&2; exit 3' } },
  { tool: 'terminal', args: { command: 'mkdir -p in && cd in && export KEPT=yes' } },
  { tool: 'terminal', args: { command: 'basename "$PWD"; echo "$KEPT"; cd ..' } },
  { tool: 'terminal', args: { command: 'basename "$PWD"', workdir: 'in' } },
  {
    tool: 'terminal',
    args: { command: 'ls -d in' },
    why: 'Hermes stays in `workdir` for later calls too; ours goes there for one command, as the argument says',
  },
  { tool: 'terminal', args: { command: 'cat <<EOF\n"quotes" and $((1+1)) \'single\'\nEOF' } },
  { tool: 'terminal', args: { command: "printf '%s\\n' 'naïve café 漢字 🙂'" } },
  {
    tool: 'terminal',
    args: { command: 'no-such-command' },
    why: "the same message; ours counts lines from the command's own first one",
  },
  {
    tool: 'terminal',
    args: { command: 'if then' },
    why: "the same message; ours counts lines from the command's own first one",
  },
  { tool: 'terminal', args: { command: 'cat; echo "after $?"' } },
  { tool: 'terminal', args: { command: 'read -r line || echo eof' } },
  {
    tool: 'terminal',
    args: { command: 'kill -TERM $$' },
    why: 'Hermes gives the signal as a negative number, ours as every shell does',
  },
  {
    tool: 'terminal',
    args: { command: 'echo begun; sleep 9', timeout: 1 },
    why: 'same exit code; ours says in `error` what happened and what to do, where Hermes adds a line to the output',
  },
  {
    tool: 'terminal',
    args: { command: "printf 'a\\000b\\377\\033[31mred\\033[0m\\n'" },
    why: SAFE_BYTES,
  },
  {
    tool: 'terminal',
    args: { command: 'seq 1 1000000' },
    why: 'both keep 20,000 characters of the beginning and 30,000 of the end; ours names the bytes cut and the way out',
  },
  { tool: 'terminal', args: { command: '(sleep 5 &) ; echo now' } },
  { tool: 'terminal', args: { command: 'false' } },
  {
    tool: 'terminal',
    args: { command: '' },
    why: 'an empty command is a slip that the model should hear of',
  },
];

export const PROCESS: Case[] = [
  {
    tool: 'terminal',
    args: { command: 'echo up; sleep 3; echo done; exit 4', background: true },
    pause: 1,
  },
  { tool: 'process', args: { action: 'poll', session_id: '$SESSION' } },
  {
    tool: 'process',
    args: { action: 'wait', session_id: '$SESSION', timeout: 5 },
    why: "Hermes' login shell adds its own `logout` to the output",
  },
  {
    tool: 'process',
    args: { action: 'log', session_id: '$SESSION' },
    why: "Hermes' login shell adds its own `logout` to the output",
  },
  { tool: 'process', args: { action: 'log', session_id: '$SESSION', offset: 1, limit: 1 } },
  {
    tool: 'process',
    args: { action: 'kill', session_id: '$SESSION' },
    why: "Hermes' login shell adds its own `logout` to the output",
  },
  {
    tool: 'terminal',
    args: { command: 'echo name?; read -r x; echo "hi $x"', background: true },
    pause: 0.5,
  },
  {
    tool: 'process',
    args: { action: 'submit', session_id: '$SESSION', data: 'Ada' },
    why: 'input of a background process can be written to; Hermes closes it unless `pty` is set',
  },
  {
    tool: 'process',
    args: { action: 'wait', session_id: '$SESSION', timeout: 5 },
    why: 'input of a background process can be written to; Hermes closes it unless `pty` is set',
  },
  { tool: 'terminal', args: { command: 'sleep 60', background: true } },
  { tool: 'process', args: { action: 'wait', session_id: '$SESSION', timeout: 1 } },
  { tool: 'process', args: { action: 'kill', session_id: '$SESSION' } },
  { tool: 'process', args: { action: 'poll', session_id: 'no-such' } },
  { tool: 'process', args: { action: 'poll' } },
  { tool: 'process', args: { action: 'dance', session_id: '$SESSION' } },
  {
    tool: 'terminal',
    args: { command: 'true', background: true, notify_on_complete: true },
    why: 'in a batch run nothing delivers the notice, in Hermes neither; ours says so and names `wait`',
  },
  {
    tool: 'terminal',
    args: { command: 'test -t 0 && test -t 1 && echo terminal', pty: true },
    why: 'Hermes gives a terminal to background processes only, and does not say so',
  },
  {
    tool: 'terminal',
    args: { command: 'test -t 1 && read -r x; echo "hi $x"', background: true, pty: true },
    pause: 0.5,
  },
  { tool: 'process', args: { action: 'submit', session_id: '$SESSION', data: 'Ada' } },
  {
    tool: 'process',
    args: { action: 'wait', session_id: '$SESSION', timeout: 5 },
    why: 'ours gives plain newlines where a terminal writes carriage returns too',
  },
];
