import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

/** Actions of commands that have another name than theirs. */
const OTHER_NAMES: Record<string, string> = {
  HeadObject: 'GetObject',
  ListObjectsV2: 'ListBucket',
  DeleteObjects: 'DeleteObject',
  CreateMultipartUpload: 'PutObject',
  UploadPart: 'PutObject',
  CompleteMultipartUpload: 'PutObject',
  SendMessageBatch: 'SendMessage',
  Invoke: 'InvokeFunction',
  // Of the document client.
  Get: 'GetItem',
  BatchGet: 'BatchGetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};
/** Commands that are allowed by the actions of what they are made of. */
const MADE_OF_OTHERS = ['TransactWrite', 'TransactGet'];

/** `new GetCommand(`, `paginateQuery(`, and `Put: {` of a transaction. */
const SENT = /new (\w+)Command\(|paginate(\w+)\(|\b(Put|Update|Delete|ConditionCheck):/g;

/** The IAM actions, without their services, of all AWS commands in what an entry point bundles. */
export async function sentActions(entry: string): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const sent = new Set<string>();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      if (bytesInOutput > 0 && file.startsWith('src/adapters/aws/')) collect(file, sent);
    }
  }
  return sent;
}

function collect(file: string, sent: Set<string>): void {
  for (const [, ...names] of readFileSync(file, 'utf8').matchAll(SENT)) {
    const name = names.find((found) => found !== undefined) ?? '';
    if (MADE_OF_OTHERS.includes(name)) continue;
    if (name === 'UploadPartCopy') sent.add('GetObject').add('PutObject');
    else sent.add(OTHER_NAMES[name] ?? name);
  }
}
