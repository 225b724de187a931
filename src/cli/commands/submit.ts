import type { Command } from 'commander';
import type { Bucket } from '../../adapters/aws/bucket.ts';
import { runKeys, uploadKeys } from '../../core/cloud/bucket-keys.ts';
import { CLOUD_USES } from '../../core/cloud/cloud-flags.ts';
import { ConfigError } from '../../core/run/flag-values.ts';
import { type RunFile, runFileSchema } from '../../core/run/manifest.ts';
import type { RunConfigKey } from '../../core/run/run-config.ts';
import { type DatasetSource, openDatasetSource } from '../cloud/dataset-source.ts';
import { type InspectedDataset, inspectDataset } from '../cloud/inspect-dataset.ts';
import {
  addStackOptions,
  openStackBucket,
  type StackOptions,
  withAws,
} from '../cloud/open-stack.ts';
import { checkedRunName } from '../cloud/run-name.ts';
import { givenForCloud, planSubmission, type Submission } from '../cloud/submission.ts';
import { startTransferProgress } from '../cloud/transfer-progress.ts';
import { addRunOptions, givenSettings } from '../run-options.ts';
import { submitLines } from '../terminal/submit-lines.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { Wiring } from '../wiring.ts';

const EXAMPLES = `
Examples:
  talaria submit --dataset_file=prompts.jsonl --batch_size=8 --run_name=mine
  talaria status mine
  talaria download mine

The flags of talaria run, for a run in the stack that cdk deploy made: the
dataset is checked here, then put into its bucket with what the flags say, and
from there on nothing has to stay on. Submitting a run again goes on with it:
what is not given stays as it was, nothing finished is bought again.

Otherwise than locally: --num_workers counts tasks, each with the sandboxes of
one batch; a --batch_size above 8 is lowered to 8; every prompt runs in a
container, without an image in that of --default_image or of the stack.
Refused: --api_key (talaria secrets set stores keys), --max_cost_usd and
--max_total_tokens (can't be held over all tasks yet). Without effect: --resume,
--output_dir, --verbose, --log_prefix_chars and the limits of local containers.

Region and credentials are AWS' own: AWS_REGION, AWS_PROFILE and so on.

Exit codes: 0 submitted, 1 failed, 2 wrong use.`;

export function addSubmit(program: Command, wiring: Wiring): void {
  const command = program
    .command('submit')
    .description('Run every prompt of a dataset in the cloud: put it into the stack’s bucket.')
    .option('--config <path>', 'JSON file of settings under the names of the flags; a flag wins')
    .addHelpText('after', EXAMPLES);
  addStackOptions(command, { bucket: true });
  addRunOptions(command, isWithoutUse);
  command.action(async (options: Record<string, unknown> & StackOptions) => {
    await withAws(() => submit(options, wiring));
  });
}

/** Still taken: a flag of a local run is answered with what becomes of it. */
function isWithoutUse(key: RunConfigKey): boolean {
  const use = CLOUD_USES[key];
  return (use === 'local' && key !== 'json') || use === 'refused' || key === 'sandbox';
}

async function submit(options: Record<string, unknown> & StackOptions, wiring: Wiring) {
  const configPath = typeof options['config'] === 'string' ? options['config'] : undefined;
  const given = await givenForCloud(givenSettings(options), configPath);
  const settings = { ...given.file, ...given.flags };
  const runName = nameOf(settings['run_name']);
  const dataset = await openDatasetSource(pathOf(settings['dataset_file']), wiring.stdin);
  try {
    const bucket = await openStackBucket(options, wiring);
    const stored = await storedRun(bucket, runName);
    const submission = await planSubmission(given, stored, dataset.uploadName, wiring);
    const inspected = await inspectDataset(dataset.path, {
      strict: submission.config.strict,
      shownAs: pathOf(settings['dataset_file']),
    });
    const terminal = openTerminal(wiring.stderr, wiring.env);
    const passes = stored?.passes.length ?? 0;
    const shown = { submission, inspected, bucket: bucket.name, pass: passes + 1 };
    for (const line of submitLines(shown, terminal.colors)) terminal.line(line);
    await putAll(bucket, { runName, dataset, submission, isNew: stored === undefined }, wiring);
    report({ runName, bucket, dataset, inspected }, options, wiring);
  } finally {
    await dataset.discard();
  }
}

function nameOf(given: unknown): string {
  if (given === undefined) throw new ConfigError('--run_name is required: the name of the run');
  return checkedRunName(String(given));
}

function pathOf(given: unknown): string {
  if (typeof given === 'string' && given !== '') return given;
  throw new ConfigError(
    '--dataset_file is required: JSONL of prompts; .gz is fine, - is standard input',
  );
}

async function storedRun(bucket: Bucket, runName: string): Promise<RunFile | undefined> {
  const { objectTextIfAny } = await import('../../adapters/aws/upload-object.ts');
  const text = await objectTextIfAny(bucket, runKeys(runName).manifest);
  return text === undefined ? undefined : runFileSchema.parse(JSON.parse(text));
}

interface Upload {
  runName: string;
  dataset: DatasetSource;
  submission: Submission;
  isNew: boolean;
}

/** The dataset last: it starts the pass, which reads what lies beside it then. */
async function putAll(bucket: Bucket, upload: Upload, wiring: Wiring): Promise<void> {
  const { putText, deleteObject, putStream } = await import('../../adapters/aws/upload-object.ts');
  const { runName, dataset, submission } = upload;
  const keys = uploadKeys(runName);
  if (Object.keys(submission.secret).length > 0) {
    await putText(bucket, keys.privateFile, `${JSON.stringify(submission.secret)}\n`);
  } else if (upload.isNew) {
    // An earlier try of this run, with a dataset that was refused, may have left its own.
    await deleteObject(bucket, keys.privateFile);
  }
  await putText(bucket, keys.config, submission.runJson);
  const progress = startTransferProgress('uploading', dataset.bytes, {
    terminal: openTerminal(wiring.stderr, wiring.env),
    clock: wiring.clock,
  });
  try {
    const key = keys.dataset(dataset.uploadName);
    await putStream(bucket, key, dataset.chunks(), progress.add);
  } finally {
    progress.stop();
  }
}

interface Submitted {
  runName: string;
  bucket: Bucket;
  dataset: DatasetSource;
  inspected: InspectedDataset;
}

function report(of: Submitted, options: Record<string, unknown> & StackOptions, wiring: Wiring) {
  const { runName, bucket, dataset, inspected } = of;
  const key = uploadKeys(runName).dataset(dataset.uploadName);
  if (options['json'] === true || options['json'] === 'true') {
    const { rows, invalidCount: invalid_rows, images } = inspected;
    const result = { run: runName, bucket: bucket.name, dataset: key, rows, invalid_rows, images };
    wiring.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  const { line, colors } = openTerminal(wiring.stdout, wiring.env);
  const stack = options.stack === 'talaria' ? '' : ` --stack ${options.stack}`;
  line(`submitted  s3://${bucket.name}/${key}`);
  line(`${colors.dim('watch it  ')} talaria status ${runName}${stack} --follow`);
  line(`${colors.dim('fetch it  ')} talaria download ${runName}${stack}`);
}
