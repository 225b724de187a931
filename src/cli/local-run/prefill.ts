import { type Prefill, prefillSchema } from '../../core/run/private-settings.ts';
import { readJsonFile } from './json-file.ts';

/** Reads a prefill messages file. Throws `UsageError` naming file, place and what was expected. */
export async function readPrefill(path: string): Promise<Prefill> {
  return await readJsonFile(
    '--prefill_messages_file',
    path,
    prefillSchema,
    'expected a JSON array of {"role": "system" | "user" | "assistant", "content": text}; ',
  );
}
