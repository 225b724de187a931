import { PutObjectCommand } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { runKeys } from '../../core/cloud/bucket-keys.ts';
import type { BatchPart, JoinedFile, RunFiles } from '../../core/ports/run-files.ts';
import type { BatchKind } from '../../core/run/batch-kind.ts';
import { type JoinDeps, type JoinSource, joinObjects } from './join-objects.ts';
import { listNumbered } from './list-objects.ts';
import { refuseOtherRows } from './make-parts.ts';
import { objectLines, parseObjectLine } from './object-lines.ts';
import { type ObjectWriter, openObjectWriter } from './object-writer.ts';
import { readAhead } from './read-ahead.ts';

/** What decides whether a failed row is its prompt's last. */
const rowKeySchema = z.object({
  metadata: z.object({ prompt_id: z.string() }),
  timing: z.object({ attempt: z.number() }),
});

/** The run's files in the bucket, each put whole. */
export function createBucketRunFiles(runName: string, deps: JoinDeps): RunFiles {
  const { bucket } = deps;
  const keys = runKeys(runName);

  async function sourcesOf(kind: BatchKind, parts: readonly BatchPart[]): Promise<JoinSource[]> {
    const found = await listNumbered(bucket, keys.file(`${kind}_`));
    return parts.map(({ batch, rows }) => {
      const key = keys.batch(kind, batch);
      const size = found.get(batch)?.size;
      if (size === undefined) refuseOtherRows(key, rows, 0);
      return { key, size: size ?? 0, rows };
    });
  }

  return {
    async write(name, text) {
      await bucket.client.send(
        new PutObjectCommand({ Bucket: bucket.name, Key: keys.file(name), Body: text }),
      );
    },
    async joinBatches(name, kind, parts, keepRow): Promise<JoinedFile> {
      const sources = await sourcesOf(kind, parts);
      if (keepRow !== undefined) return await joinSome(keys.file(name), sources, keepRow);
      const bytes = await joinObjects(keys.file(name), sources, deps);
      return { bytes, rows: parts.reduce((sum, { rows }) => sum + rows, 0) };
    },
  };

  async function joinSome(
    target: string,
    sources: readonly JoinSource[],
    keepRow: NonNullable<Parameters<RunFiles['joinBatches']>[3]>,
  ): Promise<JoinedFile> {
    const writer = openObjectWriter(bucket, target);
    const joined: JoinedFile = { rows: 0, bytes: 0 };
    try {
      for await (const { source, chunks } of readAhead(bucket, sources)) {
        const seen = await copySome(source.key, chunks, writer, joined, keepRow);
        refuseOtherRows(source.key, source.rows ?? seen, seen);
      }
      await writer.close();
      return joined;
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }

  async function copySome(
    key: string,
    chunks: AsyncIterable<Buffer>,
    writer: ObjectWriter,
    joined: JoinedFile,
    keepRow: (promptId: string, attempt: number) => boolean,
  ): Promise<number> {
    let seen = 0;
    for await (const line of objectLines(key, chunks)) {
      seen += 1;
      const { metadata, timing } = parseObjectLine(key, line, rowKeySchema);
      if (!keepRow(metadata.prompt_id, timing.attempt)) continue;
      await writer.write(line.bytes);
      joined.rows += 1;
      joined.bytes += line.bytes.length;
    }
    return seen;
  }
}
