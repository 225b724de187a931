import type { Command } from 'commander';
import { DISTRIBUTIONS } from '../../core/toolsets/distributions.ts';
import { readDistributions } from '../local-run/toolset-choice.ts';
import type { Wiring } from '../wiring.ts';

/** Prints the toolset distributions, for people or as JSON. */
export async function listDistributions(
  options: { json?: boolean; file?: string },
  { stdout }: Pick<Wiring, 'stdout'>,
): Promise<void> {
  const own = options.file === undefined ? [] : await readDistributions(options.file);
  const all = [...own, ...DISTRIBUTIONS];
  if (options.json === true) {
    stdout.write(`${JSON.stringify(all, null, 2)}\n`);
    return;
  }
  for (const { name, description, toolsets } of all) {
    const shares = Object.entries(toolsets).map(([toolset, percent]) => `${toolset} ${percent} %`);
    stdout.write(`${name}\n  ${description}\n  ${shares.join(', ')}\n\n`);
  }
}

export function addListDistributions(program: Command, wiring: Wiring): void {
  program
    .command('list-distributions')
    .alias('list_distributions')
    .description('show the toolset distributions that --distribution takes')
    .option('--distributions_file <path>', 'further distributions, as run takes them')
    .option('--json', 'as JSON')
    .action((options: { json?: boolean; distributions_file?: string }) =>
      listDistributions(
        {
          ...(options.json !== undefined && { json: options.json }),
          ...(options.distributions_file !== undefined && { file: options.distributions_file }),
        },
        wiring,
      ),
    );
}
