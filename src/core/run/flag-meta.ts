import { z } from 'zod';

/** How a setting is described to people, and when it may change. */
export interface FlagMeta {
  help: string;
  /** Shown in place of the value in help, e.g. `path`. */
  value?: string;
  group: 'Required' | 'Model' | 'Agent' | 'Sandbox' | 'Run' | 'Output';
  /** Same in every pass of a run: another value would mix two kinds of data under one name. */
  frozen?: true;
  /** Only on the command line: secrets, and what concerns one call rather than the run. */
  commandLineOnly?: true;
}

export const flagMeta = z.registry<FlagMeta>();

export function flag<T extends z.ZodType>(schema: T, meta: FlagMeta): T {
  flagMeta.add(schema, meta);
  return schema;
}
