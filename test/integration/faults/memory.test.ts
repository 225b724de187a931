import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ModelServer } from '../../support/model-server.ts';
import { expectSound } from '../../support/run-files.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';
import { startCommandProvider } from './command-provider.ts';
import { runFaulty } from './faulty-run.ts';

const folder = useCommandFolder();
let provider: ModelServer;
beforeAll(async () => {
  provider = await startCommandProvider();
});
afterAll(() => provider.close());

/** Commands that run out of memory, and what the model is to read of each. */
const COMMANDS: [string, RegExp][] = [
  // The limit for one process: it can't have what it asks for.
  ['ulimit -v 60000; head -c 400000000 /dev/zero | tail; echo end $?', /exhausted|allocate|end 1/],
  // The kernel kills the command of the shell.
  ['sh -c "kill -9 \\$\\$"; echo code $?', /code 137/],
  // The kernel kills the shell itself, in the middle.
  ['echo begun; kill -9 $$; echo never', /^\{"output":"begun\\n","exit_code":137/],
  // The runtime gives up at its own limit.
  [
    `node --max-old-space-size=20 -e "const a=[];for(;;)a.push(new Array(1e5).fill(7))" 2>&1 | grep -c "out of memory"`,
    /"output":"[1-9]/,
  ],
];

it('a child that runs out of memory is a result for the model, and the run goes on', async () => {
  const prompts = [...COMMANDS.map(([command]) => command), 'echo still here'];
  await folder.write(
    'prompts.jsonl',
    prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''),
  );
  const end = await runFaulty(
    [
      ...['run', '--dataset_file=prompts.jsonl', '--run_name=r', '--batch_size=2', '--model=m'],
      ...[`--base_url=${provider.baseUrl}`, '--toolsets=terminal', '--num_workers=2'],
    ],
    { cwd: folder.path },
  );
  expect(end.code, end.stderr).toBe(0);
  const { trajectories, ledger } = expectSound(folder.at('data', 'r'));
  expect(ledger.map((entry) => entry.outcome)).toEqual(prompts.map(() => 'completed'));
  const results = new Map(
    trajectories.map((row) => [row.conversations[0]?.value, row.conversations[2]?.value ?? '']),
  );
  for (const [command, shown] of COMMANDS) expect(results.get(command), command).toMatch(shown);
  expect(results.get('echo still here')).toMatch(/still here/);
});
