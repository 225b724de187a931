import { z } from 'zod';
import type { ModelMessage } from '../../core/ports/model.ts';
import { readJsonFile } from './json-file.ts';

export const prefillSchema = z.array(
  z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }),
);
export type Prefill = z.infer<typeof prefillSchema>;

/** Reads a prefill messages file. Throws `UsageError` naming file, place and what was expected. */
export async function readPrefill(path: string): Promise<Prefill> {
  return await readJsonFile(
    '--prefill_messages_file',
    path,
    prefillSchema,
    'expected a JSON array of {"role": "system" | "user" | "assistant", "content": text}; ',
  );
}

/** Prefill as the model port takes it. */
export function prefillMessages(prefill: Prefill): ModelMessage[] {
  return prefill.map(({ role, content }) =>
    role === 'assistant' ? { role, content, reasoning: '', toolCalls: [] } : { role, content },
  );
}
