import { bytesFor, lastCharacters } from './process-output.ts';
import type { ToolContext } from './tool.ts';

/** So long an early end is waited for: a mistyped command shows at once. */
const EARLY_END_MS = 200;
const SHOWN = 2_000;

/** Starts a command as a background process and gives what it did in its first moment. */
export async function startInBackground(
  given: { command: string; workdir?: string | undefined; pty: boolean },
  { sandbox, signal, redact }: ToolContext,
): Promise<Record<string, unknown>> {
  const { command, workdir, pty } = given;
  const asked = workdir === undefined ? { command, pty } : { command, workdir, pty };
  const { id, pid } = await sandbox.startProcess(asked);
  const { exitCode } = await sandbox.waitForProcess(id, { timeoutMs: EARLY_END_MS, signal });
  const output = lastCharacters(await sandbox.processOutput(id, bytesFor(SHOWN)), SHOWN, redact);
  const started = { output, session_id: id, pid };
  if (exitCode === undefined) {
    const hint = `running in the background; process with session_id ${id} polls, waits, writes to it or kills it`;
    return { ...started, status: 'running', exit_code: 0, error: null, hint };
  }
  return { ...started, status: 'exited', exit_code: exitCode, error: null };
}
