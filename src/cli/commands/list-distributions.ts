import type { Command } from 'commander';
import { DISTRIBUTIONS } from '../../core/toolsets/distributions.ts';
import { readDistributions } from '../local-run/toolset-choice.ts';
import { oneSafeLine } from '../terminal/format.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { Wiring } from '../wiring.ts';

/** Prints the toolset distributions, for people or as JSON. Takes the options of `run` too. */
export async function listDistributions(
  options: Record<string, unknown>,
  { stdout, env }: Wiring,
): Promise<void> {
  const { distributions_file: file, json } = options;
  const own = typeof file === 'string' ? await readDistributions(file) : [];
  const all = [...own, ...DISTRIBUTIONS];
  if (json === true || json === 'true') {
    stdout.write(`${JSON.stringify(all, null, 2)}\n`);
    return;
  }
  const { colors, line } = openTerminal(stdout, env);
  for (const { name, description, toolsets } of all) {
    const shares = Object.entries(toolsets).map(([toolset, percent]) => `${toolset} ${percent} %`);
    line(colors.bold(name));
    if (description !== '') line(`  ${oneSafeLine(description, 500)}`);
    line(`  ${colors.dim(shares.join(', '))}\n`);
  }
}

const NOTES = `
Each prompt draws each toolset of the distribution by its percentage, at least one always.
A file for --distributions_file:
  {"mine": {"description": "shell only", "toolsets": {"terminal": 100, "file": 50}}}`;

export function addListDistributions(program: Command, wiring: Wiring): void {
  program
    .command('list-distributions')
    .alias('list_distributions')
    .description('Show the toolset distributions that --distribution takes.')
    .option('--distributions_file <path>', 'JSON file of further distributions, as run takes it')
    .option('--json', 'print them as one JSON array on standard output')
    .addHelpText('after', NOTES)
    .action((options: Record<string, unknown>) => listDistributions(options, wiring));
}
