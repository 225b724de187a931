import { z } from 'zod';

// Kinds of values of settings. cdk.json may hold any JSON and `-c key=value` gives text: both are taken.

/** A setting with its default; empty text stands for that. */
export function setting<Kind extends z.ZodType>(
  kind: Kind,
  byDefault: z.util.NoUndefined<z.output<Kind>>,
  purpose: string,
) {
  return z
    .preprocess((value) => (value === '' ? undefined : value), kind.default(byDefault))
    .meta({
      description: purpose,
    });
}

/** A setting that may be absent. */
export function optional<Kind extends z.ZodType>(kind: Kind, purpose: string) {
  return z
    .preprocess((value) => (value === '' ? undefined : value), kind.optional())
    .meta({
      description: purpose,
    });
}

export function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

export const yesNo = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')],
  { error: 'expected true or false' },
);

export const list = z.union(
  [z.array(z.string().min(1)), z.string().transform((value) => value.split(',').map(trimmed))],
  { error: 'expected a list, or text with commas' },
);

/** Text by text, of a JSON object. */
export const jsonTexts = z.union(
  [
    z.record(z.string(), z.string()),
    z.string().transform(parsedObject).pipe(z.record(z.string(), z.string())),
  ],
  { error: 'expected a JSON object of texts' },
);

export const jsonObject = z.union(
  [z.record(z.string(), z.json()), z.string().transform(parsedObject)],
  { error: 'expected a JSON object' },
);

function trimmed(part: string): string {
  return part.trim();
}

function parsedObject(
  value: string,
  context: z.RefinementCtx,
): Record<string, z.core.util.JSONType> {
  try {
    return z.record(z.string(), z.json()).parse(JSON.parse(value));
  } catch {
    context.addIssue({ code: 'custom', message: 'expected a JSON object' });
    return z.NEVER;
  }
}
