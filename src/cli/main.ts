import { Command, CommanderError, type Option } from 'commander';
import { addDownload } from './commands/download.ts';
import { addListDistributions } from './commands/list-distributions.ts';
import { addMerge } from './commands/merge.ts';
import { addRun } from './commands/run.ts';
import { addSandbox } from './commands/sandbox.ts';
import { addSecrets } from './commands/secrets.ts';
import { addStatus } from './commands/status.ts';
import { addSubmit } from './commands/submit.ts';
import { asksFor, normalizeFlags } from './run-options.ts';
import { errorText } from './terminal/terminal.ts';
import { exitCodeOf } from './usage-error.ts';
import { createWiring, type Wiring } from './wiring.ts';

const START = `
Start here, without key or network:
  talaria run --dataset_file=examples/prompts.jsonl --batch_size=4 --run_name=first \\
      --model=rehearsal

talaria <command> --help shows all flags of a command.`;

const given = process.argv.slice(2);
// Takes the arguments out of the process list: a key or an ephemeral prompt may be among them, and
// commands of a sandbox can read it.
process.title = 'talaria';

const wiring = createWiring();

// A reader that went away, such as `head`, ends nothing: the run's results go to its files.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error) => {
    reportError(error, given, wiring);
    process.exit(1);
  });
}

process.exitCode = await main(given, wiring);

/** Runs the command line; resolves to the exit code. */
async function main(given: readonly string[], of: Wiring): Promise<number> {
  const program = createProgram(of);
  const words = normalizeFlags(given, program.commands);
  if (words.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(words, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    reportError(error, words, of);
    return error instanceof CommanderError ? 2 : exitCodeOf(error);
  }
}

function createProgram(of: Wiring): Command {
  const program = new Command('talaria')
    .description('Turns a JSONL file of prompts into training-grade agent trajectories.')
    .version(of.version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', START);
  addRun(program, of);
  addMerge(program, of);
  addListDistributions(program, of);
  addSandbox(program, of);
  addSubmit(program, of);
  addStatus(program, of);
  addDownload(program, of);
  addSecrets(program, of);
  for (const command of [program, ...program.commands.flatMap((sub) => [sub, ...sub.commands])]) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'show this help')
      // What went wrong is reported in one place, `reportError`.
      .configureOutput({ outputError: () => undefined })
      .configureHelp({ optionTerm, subcommandTerm: (sub) => sub.name() });
  }
  return program;
}

/** Flags that take true or false are nearly always given without. */
function optionTerm({ flags }: Option): string {
  return flags.replace(' [true|false]', '');
}

/** For people on standard error; with --json as an object on standard output too. */
function reportError(error: unknown, words: readonly string[], of: Wiring): void {
  const shown = error instanceof CommanderError ? commandLineFault(error, words) : error;
  of.stderr.write(`talaria: ${errorText(shown, asksFor('verbose', words))}\n`);
  if (asksFor('json', words)) {
    of.stdout.write(`${JSON.stringify({ error: errorText(shown, false) })}\n`);
  }
}

/** Commander's message without its prefix, and where to read on. */
function commandLineFault({ message }: CommanderError, words: readonly string[]): string {
  const [first = ''] = words;
  const command = /^[a-z]/.test(first) && !message.includes('unknown command') ? ` ${first}` : '';
  return `${message.replace(/^error: /, '')}\nSee talaria${command} --help.`;
}
