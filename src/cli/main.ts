import { Command, CommanderError } from 'commander';
import { addListDistributions } from './commands/list-distributions.ts';
import { addMerge } from './commands/merge.ts';
import { addRun } from './commands/run.ts';
import { normalizeFlags } from './run-options.ts';
import { exitCodeOf } from './usage-error.ts';
import { createWiring, type Wiring } from './wiring.ts';

const wiring = createWiring();

// A reader that went away, such as `head`, ends nothing: the run's results go to its files.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error) => {
    wiring.stderr.write(`talaria: ${describe(error, process.argv.includes('--verbose'))}\n`);
    process.exit(1);
  });
}

process.exitCode = await main(process.argv, wiring);

/** Runs the command line; resolves to the exit code. No stack trace unless asked for. */
async function main(argv: readonly string[], of: Wiring): Promise<number> {
  const program = new Command('talaria')
    .description('Turns a JSONL file of prompts into training-grade agent trajectories.')
    .version(of.version)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  addRun(program, of);
  addMerge(program, of);
  addListDistributions(program, of);
  for (const command of program.commands) command.exitOverride();
  const words = [...argv.slice(0, 2), ...normalizeFlags(argv.slice(2))];
  try {
    await program.parseAsync(words);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const verbose = words.some((word) => /^--verbose(=true)?$/i.test(word));
    of.stderr.write(`talaria: ${describe(error, verbose)}\n`);
    return exitCodeOf(error);
  }
}

function describe(error: unknown, verbose: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return verbose ? (error.stack ?? error.message) : error.message;
}
