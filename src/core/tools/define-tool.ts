import { z } from 'zod';
import { SandboxFileError, SandboxProcessError } from '../ports/sandbox.ts';
import { parseArguments } from './parse-arguments.ts';
import { shownError } from './shown-error.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface ToolDefinition<S extends z.ZodObject> {
  name: string;
  description: string;
  /** Checks the arguments; what the model is shown is made from it. */
  args: S;
  /** A `SandboxFileError` or `SandboxProcessError` thrown here is shown to the model, no other. */
  run(args: z.output<S>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** A tool whose arguments are checked and whose result is JSON text, free of the runner's secrets. */
export function defineTool<S extends z.ZodObject>(definition: ToolDefinition<S>): Tool {
  const { name, description } = definition;
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.args, { io: 'input' });

  return {
    schema: { name, description, parameters },
    async run(given, context) {
      const parsed = parseArguments(definition.args, parameters, given);
      if (!parsed.ok) return resultText({ error: `${name}: ${parsed.error}` }, context);
      try {
        return resultText(await definition.run(parsed.args, context), context);
      } catch (error) {
        if (!isForModel(error)) throw error;
        return resultText({ error: shownError(error) }, context);
      }
    },
  };
}

function isForModel(error: unknown): error is SandboxFileError | SandboxProcessError {
  return error instanceof SandboxFileError || error instanceof SandboxProcessError;
}

/** Paths, messages and diffs can hold a secret as well as output can. */
function resultText(result: Record<string, unknown>, context: ToolContext): string {
  return JSON.stringify(redactStrings(result, context));
}

function redactStrings(value: unknown, context: ToolContext): unknown {
  if (typeof value === 'string') return context.redact(value);
  if (Array.isArray(value)) return value.map((item) => redactStrings(item, context));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [context.redact(key), redactStrings(item, context)]),
  );
}
