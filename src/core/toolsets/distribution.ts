import { z } from 'zod';
import { isToolsetName, TOOLSET_NAMES } from './registry.ts';

/** By which probabilities a prompt draws its toolsets. */
export interface Distribution {
  name: string;
  description: string;
  /** Percent (0 to 100) by toolset; the order decides ties. At least one. */
  toolsets: Readonly<Record<string, number>>;
}

const percentSchema = z
  .number('expected a percentage from 0 to 100')
  .min(0, 'expected a percentage from 0 to 100')
  .max(100, 'expected a percentage from 0 to 100');

const toolsetsSchema = z.record(z.string(), percentSchema).superRefine((toolsets, context) => {
  const names = Object.keys(toolsets);
  if (names.length === 0) context.addIssue('expected at least one toolset, got none');
  for (const name of names.filter((candidate) => !isToolsetName(candidate))) {
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `expected one of ${TOOLSET_NAMES.join(', ')}`,
    });
  }
});

/**
 * A `--distributions_file`, parsed JSON: `{name: {description?, toolsets: {toolset: percent}}}`,
 * to distributions in the file's order.
 */
export const distributionsFileSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/),
    z.strictObject({ description: z.string().default(''), toolsets: toolsetsSchema }),
  )
  .transform((file): Distribution[] =>
    Object.entries(file).map(([name, distribution]) => ({ name, ...distribution })),
  );
