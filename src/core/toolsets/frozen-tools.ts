import type { ToolSchema } from '../ports/model.ts';
import type { Tool } from '../tools/tool.ts';

/** The tools that a run began with, described to the model as they were then. */
export function frozenTools(
  built: Readonly<Record<string, Tool>>,
  schemas: readonly ToolSchema[],
): Record<string, Tool> {
  return Object.fromEntries(
    schemas.flatMap((schema): [string, Tool][] => {
      const tool = Object.hasOwn(built, schema.name) ? built[schema.name] : undefined;
      return tool === undefined ? [] : [[schema.name, { ...tool, schema }]];
    }),
  );
}
