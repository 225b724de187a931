import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ModelMessage } from '../../core/ports/model.ts';
import { UsageError } from '../usage-error.ts';

export const prefillSchema = z.array(
  z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }),
);
export type Prefill = z.infer<typeof prefillSchema>;

/** Reads a prefill messages file. Throws `UsageError` naming file, place and what was expected. */
export async function readPrefill(path: string): Promise<Prefill> {
  const flag = '--prefill_messages_file';
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${flag}: can't read ${path} as JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const parsed = prefillSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `${flag}: ${path}: expected a JSON array of {"role": "system" | "user" | "assistant", "content": text}; ` +
      `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'not as expected'}`,
  );
}

/** Prefill as the model port takes it. */
export function prefillMessages(prefill: Prefill): ModelMessage[] {
  return prefill.map(({ role, content }) =>
    role === 'assistant' ? { role, content, reasoning: '', toolCalls: [] } : { role, content },
  );
}
