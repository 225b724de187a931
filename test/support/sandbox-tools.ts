import { afterAll, beforeAll } from 'vitest';
import type { Sandbox } from '../../src/core/ports/sandbox.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import type { ToolContext } from '../../src/core/tools/tool.ts';
import { makeProcessProvider } from './sandbox-provider.ts';

export type CallTool = (name: string, args: unknown) => Promise<Record<string, unknown>>;

/** Calls built-in tools in a real sandbox and parses their results. */
export function toolCaller(sandbox: Sandbox, overrides: Partial<ToolContext> = {}): CallTool {
  const context: ToolContext = {
    sandbox,
    signal: new AbortController().signal,
    remainingMs: () => Number.POSITIVE_INFINITY,
    redact: (text) => text,
    todos: [],
    ...overrides,
  };
  return async (name, args) => {
    const tool = BUILTIN_TOOLS[name];
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return JSON.parse(await tool.run(args, context));
  };
}

/** A process sandbox for the tests of a `describe`, and its tools. */
export function useToolSandbox(): {
  call: CallTool;
  callWith(overrides: Partial<ToolContext>): CallTool;
  open(): Promise<Sandbox>;
} {
  let made: Awaited<ReturnType<typeof makeProcessProvider>>;
  let sandbox: Sandbox;
  const open = () => made.provider.open({ promptId: 'p', image: '', cwd: '' });
  beforeAll(async () => {
    made = await makeProcessProvider();
    sandbox = await open();
  });
  afterAll(() => made.dispose());
  return {
    call: (name, args) => toolCaller(sandbox)(name, args),
    callWith: (overrides) => (name, args) => toolCaller(sandbox, overrides)(name, args),
    open,
  };
}
