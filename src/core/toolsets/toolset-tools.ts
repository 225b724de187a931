import type { Tool } from '../tools/tool.ts';
import { isToolsetName, TOOLSETS } from './registry.ts';

/** The tools of a toolset that are built, by name. */
export function builtTools(
  toolset: string,
  tools: Readonly<Record<string, Tool>>,
): [string, Tool][] {
  if (!isToolsetName(toolset)) return [];
  return TOOLSETS[toolset].flatMap((name): [string, Tool][] => {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    return tool === undefined ? [] : [[name, tool]];
  });
}

/** Gives the built tools of a list of toolsets, by name; the same map for the same list. */
export function createToolsOf(tools: Readonly<Record<string, Tool>>) {
  const byToolsets = new Map<string, ReadonlyMap<string, Tool>>();
  return (toolsets: readonly string[]): ReadonlyMap<string, Tool> => {
    const key = toolsets.join(' ');
    const known = byToolsets.get(key);
    if (known !== undefined) return known;
    const found = new Map(toolsets.flatMap((toolset) => builtTools(toolset, tools)));
    byToolsets.set(key, found);
    return found;
  };
}
