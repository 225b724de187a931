import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { runFolder } from '../../adapters/local/run-folder.ts';
import { lockRun } from '../../adapters/local/run-lock.ts';
import { downloadRun, refuseOtherRun } from '../cloud/download-run.ts';
import {
  addStackOptions,
  openStackBucket,
  type StackOptions,
  withAws,
} from '../cloud/open-stack.ts';
import { listRun } from '../cloud/run-listing.ts';
import { checkedRunName } from '../cloud/run-name.ts';
import { startTransferProgress, type TransferProgress } from '../cloud/transfer-progress.ts';
import { lockDeps } from '../local-run/lock-deps.ts';
import { formatBytes, formatNumberOf } from '../terminal/format.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { Wiring } from '../wiring.ts';

interface DownloadOptions extends StackOptions {
  output_dir: string;
  json?: boolean;
}

const EXAMPLES = `
Example:
  talaria download mine
  talaria download mine --stack staging --output_dir=/big/disk

Brings what is in the bucket under runs/mine/ to data/mine/, as a local run
leaves it: results, batch files, ledger, settings, the dataset of each pass.
Called again it fetches only what is missing or has changed, and goes on with a
large file where it was cut off. While the run goes on it brings the batches
that are merged so far, of which talaria merge --run_name=mine makes results.

Exit codes: 0 all is here, 1 failed, 2 wrong use.`;

export function addDownload(program: Command, wiring: Wiring): void {
  const command = program
    .command('download')
    .argument('<run>', 'name of the run')
    .description('Bring a run of the cloud to this machine.')
    .option('--output_dir <path>', 'folder that holds the folder of each run', 'data')
    .option('--json', 'print the result as one JSON object on standard output; an error too')
    .addHelpText('after', EXAMPLES);
  addStackOptions(command, { bucket: true });
  command.action(async (runName: string, options: DownloadOptions) => {
    await withAws(() => download(checkedRunName(runName), options, wiring));
  });
}

async function download(runName: string, options: DownloadOptions, wiring: Wiring): Promise<void> {
  const bucket = await openStackBucket(options, wiring);
  const folder = runFolder(options.output_dir, runName);
  const terminal = openTerminal(wiring.stderr, wiring.env);
  await refuseOtherRun(runName, folder, bucket);
  await mkdir(folder.path, { recursive: true });
  const release = await lockRun(folder.lock, await lockDeps(wiring));
  let progress: TransferProgress | undefined;
  try {
    const result = await downloadRun(await listRun(bucket, runName), folder, {
      bucket,
      onStart(bytes) {
        progress = startTransferProgress('downloading', bytes, { terminal, clock: wiring.clock });
        return progress.add;
      },
    });
    progress?.stop();
    progress = undefined;
    if (options.json === true) {
      const { isWhole: merged, ...numbers } = result;
      wiring.stdout.write(
        `${JSON.stringify({ run: runName, folder: folder.path, ...numbers, merged })}\n`,
      );
      return;
    }
    const { line, colors } = openTerminal(wiring.stdout, wiring.env);
    line(
      `downloaded ${formatNumberOf(result.files, 'file')}, ${formatBytes(result.bytes)}, to ${folder.path}${result.skipped > 0 ? `; ${formatNumberOf(result.skipped, 'file')} were here` : ''}`,
    );
    line(
      result.isWhole
        ? `${colors.dim('load it with')}  load_dataset(${JSON.stringify(folder.path)})`
        : colors.yellow(
            `the run goes on; talaria merge --run_name=${runName} makes results of what is here`,
          ),
    );
  } finally {
    progress?.stop();
    await release();
  }
}
