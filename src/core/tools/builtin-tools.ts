import { patch } from './patch.ts';
import { process } from './process.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';
import { terminal } from './terminal.ts';
import { todo } from './todo.ts';
import type { Tool } from './tool.ts';
import { writeFile } from './write-file.ts';

/** The tools that are built, by name: the only list of them. */
export const BUILTIN_TOOLS: Readonly<Record<string, Tool>> = Object.fromEntries(
  [terminal, process, readFile, writeFile, patch, searchFiles, todo].map((tool) => [
    tool.schema.name,
    tool,
  ]),
);
