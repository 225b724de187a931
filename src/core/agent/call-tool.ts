import { SandboxLostError } from '../ports/sandbox.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { ToolCall } from '../trajectory/trajectory.ts';

/** A tool threw: a fault of ours, tried again in a fresh sandbox. */
export class ToolCrashError extends Error {
  override readonly name = 'ToolCrashError';
}

/**
 * Runs one call and gives the text of its result. Whatever the model got wrong comes back as a
 * result that says so; only faults of sandbox or tool throw.
 */
export async function callTool(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  context: ToolContext,
): Promise<string> {
  const tool = tools.get(call.name);
  if (tool === undefined) {
    const offered = [...tools.keys()].join(', ');
    return toolError(
      `${call.name} is not available in this conversation. Available: ${offered || 'no tools'}.`,
    );
  }
  let args: unknown;
  try {
    args = JSON.parse(call.arguments === '' ? '{}' : call.arguments);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return toolError(
      `the arguments of ${call.name} are not valid JSON (${why.slice(0, 200)}). Call it again with one JSON object.`,
    );
  }
  try {
    return await tool.run(args, context);
  } catch (error) {
    if (error instanceof SandboxLostError) throw error;
    throw new ToolCrashError(
      `${call.name}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** A tool result that reports an error. */
export function toolError(message: string): string {
  return JSON.stringify({ error: message });
}
