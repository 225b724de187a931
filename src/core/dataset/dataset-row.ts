import { z } from 'zod';
import { jsonMembers } from './json-members.ts';
import { describeJson, printable } from './printable.ts';

/** One row of a dataset; what was absent or null is "". */
export interface DatasetRow {
  prompt: string;
  /** `image`, or `docker_image` where there is none. */
  image: string;
  cwd: string;
  /** The row's other fields as the text of a JSON object, each value as it was written. */
  source: string;
}

export type DatasetRowResult = { ok: true; row: DatasetRow } | { ok: false; reason: string };

const optionalText = z
  .string('a string or null')
  .refine((text) => !text.includes('\0'), 'a string without NUL')
  .nullish();

const rowSchema = z.object({
  prompt: z.string('a non-empty string').min(1, 'a non-empty string'),
  image: optionalText,
  docker_image: optionalText,
  cwd: optionalText,
});

/**
 * Reads one line of a dataset. A bad one gives a reason of bounded length, which says what was
 * expected and what came. Never throws.
 */
export function parseDatasetRow(line: string): DatasetRowResult {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return bad('a JSON object', `text that is not JSON (${printable(parserMessage(error))})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad('a JSON object', describeJson(value));
  }
  const parsed = rowSchema.safeParse(value);
  if (!parsed.success) return badField(parsed.error, value);
  const { prompt, image, docker_image, cwd } = parsed.data;
  return {
    ok: true,
    row: {
      prompt,
      image: image || docker_image || '',
      cwd: cwd ?? '',
      source: otherFields(line, value),
    },
  };
}

function otherFields(line: string, value: object): string {
  // Most rows have none, and the scan for exact texts costs more than looking.
  if (Object.keys(value).every((key) => Object.hasOwn(rowSchema.shape, key))) return '{}';
  const fields: string[] = [];
  for (const [key, text] of jsonMembers(line)) {
    if (!Object.hasOwn(rowSchema.shape, key)) fields.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

function badField(error: z.ZodError, value: object): DatasetRowResult {
  const issue = error.issues[0];
  const field = String(issue?.path[0]);
  const came: unknown = Object.getOwnPropertyDescriptor(value, field)?.value;
  return bad(`"${field}" to be ${issue?.message}`, describeJson(came));
}

function bad(expected: string, came: string): DatasetRowResult {
  return { ok: false, reason: `expected ${expected}, got ${came}` };
}

function parserMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
