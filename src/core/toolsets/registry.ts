/** Toolsets and their tool names, in Hermes' order and spelling (public source of 0.19.0). */
export const TOOLSETS = {
  terminal: ['terminal', 'process'],
  file: ['read_file', 'write_file', 'patch', 'search_files'],
  web: ['web_search', 'web_extract'],
  vision: ['vision_analyze'],
  image_gen: ['image_generate'],
  moa: ['mixture_of_agents'],
  browser: [
    'browser_navigate',
    'browser_snapshot',
    'browser_click',
    'browser_type',
    'browser_scroll',
    'browser_back',
    'browser_press',
    'browser_get_images',
    'browser_vision',
    'browser_console',
    'browser_dialog',
    'web_search',
  ],
  todo: ['todo'],
  code_execution: ['execute_code'],
  delegation: ['delegate_task'],
} as const satisfies Record<string, readonly string[]>;

export type ToolsetName = keyof typeof TOOLSETS;

export const TOOLSET_NAMES = Object.keys(TOOLSETS) as ToolsetName[];

/** Every tool name, each once: the columns of `tool_stats` in all rows from the first day. */
export const TOOL_NAMES: readonly string[] = [...new Set<string>(Object.values(TOOLSETS).flat())];

/** Whether `name` names a toolset. */
export function isToolsetName(name: string): name is ToolsetName {
  return Object.hasOwn(TOOLSETS, name);
}
