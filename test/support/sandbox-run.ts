import type { CommandRequest, Sandbox } from '../../src/core/ports/sandbox.ts';

export interface ShownResult {
  text: string;
  exitCode: number;
  stopped: string;
  omittedBytes: number;
  outOfMemory?: boolean | undefined;
}

/** Runs a command with roomy limits and gives its output as text. */
export async function runIn(
  sandbox: Sandbox,
  command: string,
  overrides: Partial<CommandRequest> = {},
): Promise<ShownResult> {
  const { head, tail, ...rest } = await sandbox.run({
    command,
    timeoutMs: 20_000,
    keep: { headBytes: 100_000, tailBytes: 100_000 },
    ...overrides,
  });
  return { ...rest, text: Buffer.concat([head, tail]).toString() };
}
