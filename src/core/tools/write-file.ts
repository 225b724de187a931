import { z } from 'zod';
import { defineTool } from './define-tool.ts';

const MAX_CONTENT = 10_000_000;

/** Writes a whole file. */
export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a text file whole, replacing what was there and making missing folders. To change part of a file use patch.',
  args: z.object({
    path: z
      .string()
      .min(1)
      .max(4_096)
      .describe('File, relative to the working directory or absolute.'),
    content: z.string().max(MAX_CONTENT).describe('All that the file is to hold.'),
  }),
  async run({ path, content }, context) {
    const bytes = new TextEncoder().encode(content);
    await context.sandbox.writeFile(path, bytes);
    return { bytes_written: bytes.length, path };
  },
});
