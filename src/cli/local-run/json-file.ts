import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { UsageError } from '../usage-error.ts';

/**
 * The JSON file that a flag names, checked. Throws `UsageError` naming the flag, the file, the place
 * and, of `expected`, what should have been there.
 */
export async function readJsonFile<T>(
  flag: string,
  path: string,
  schema: z.ZodType<T>,
  expected = '',
): Promise<T> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${flag}: can't read ${path} as JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the file';
  throw new UsageError(
    `${flag}: ${path}: ${expected}${where}: ${issue?.message ?? 'not as expected'}`,
  );
}
