import type { Command } from 'commander';
import { readSnapshotRows } from '../../adapters/local/dataset-rows.ts';
import { createLocalRunFiles } from '../../adapters/local/local-run-files.ts';
import { runFolder } from '../../adapters/local/run-folder.ts';
import { ConfigError, expected } from '../../core/run/flag-values.ts';
import { mergeRun } from '../../core/run/merge.ts';
import { RUN_NAME } from '../../core/run/run-config.ts';
import { lockDeps } from '../local-run/lock-deps.ts';
import { openRun, readRunFile } from '../local-run/open-run.ts';
import { summaryLines } from '../terminal/summary.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

interface MergeOptions {
  run_name?: string;
  output_dir: string;
  json?: boolean;
}

const EXAMPLES = `
Example:
  talaria merge --run_name=mine

Reads the ledger and the batch files of data/mine/ and writes trajectories.jsonl,
discarded.jsonl, failed.jsonl, statistics.json, checkpoint.json and README.md anew.
Asks no model. A run does this itself at its end; here it is for a run that was killed.`;

export function addMerge(program: Command, wiring: Wiring): void {
  program
    .command('merge')
    .description("Build a run's files again from what is stored: the same bytes each time.")
    .option('--run_name <name>', 'the run (required)')
    .option('--output_dir <path>', 'folder that holds the folder of each run', 'data')
    .option('--json', 'print the result as one JSON object on standard output; an error too')
    .addHelpText('after', EXAMPLES)
    .action((options: MergeOptions) => merge(options, wiring));
}

async function merge(options: MergeOptions, wiring: Wiring): Promise<void> {
  const { run_name: runName, output_dir: outputDir } = options;
  if (runName === undefined) throw new ConfigError('--run_name is required: the name of a run');
  if (!RUN_NAME.test(runName)) {
    const got = JSON.stringify(runName);
    throw new ConfigError(`--run_name: expected ${expected('run_name')}, got ${got}`);
  }
  const folder = runFolder(outputDir, runName);
  const run = await readRunFile(folder);
  if (run === undefined) {
    throw new UsageError(
      `there is no run ${runName} in ${outputDir}: ${folder.manifest} is missing`,
    );
  }
  const open = await openRun(folder, await lockDeps(wiring));
  try {
    const result = await mergeRun(run, {
      ledger: open.ledger,
      state: open.state,
      files: createLocalRunFiles(folder),
      inputRows: (pass) => readSnapshotRows(folder.input(pass.input_of_pass)),
      sha256Hex: wiring.sha256Hex,
    });
    if (options.json === true) {
      const { statistics, files } = result;
      wiring.stdout.write(
        `${JSON.stringify({ run: runName, folder: folder.path, statistics, files })}\n`,
      );
    } else {
      const page = openTerminal(wiring.stdout, wiring.env);
      for (const line of summaryLines(result, folder.path, page.colors)) page.line(line);
    }
  } finally {
    await open.close();
  }
}
