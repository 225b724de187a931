import { z } from 'zod';
import type { ModelMessage } from '../ports/model.ts';

export const prefillSchema = z.array(
  z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }),
);
export type Prefill = z.infer<typeof prefillSchema>;

/** What is sent to the model and never written but to `private.json`. */
export const privateSchema = z.object({
  ephemeral_system_prompt: z.string().optional(),
  prefill_messages: prefillSchema.optional(),
});
export type PrivateSettings = z.infer<typeof privateSchema>;

/** Prefill as the model port takes it. */
export function prefillMessages(prefill: Prefill): ModelMessage[] {
  return prefill.map(({ role, content }) =>
    role === 'assistant' ? { role, content, reasoning: '', toolCalls: [] } : { role, content },
  );
}
