import { type Bench, commandOf, nextSpec } from './open-bench.ts';
import { askSweRex, type SweRex } from './swe-rex.ts';
import { milliseconds, outputOf, round, summary } from './timing.ts';

const OURS_A_ROUND = 100;
const THEIRS_A_ROUND = 20;

/** Milliseconds of one command in a container that is there already, sides taking turns. */
export async function commandLatency(bench: Bench, swerex: SweRex | undefined, rounds: number) {
  const { provider, image } = bench;
  const sandbox = await provider.open(nextSpec());
  const plain = await outputOf('docker', ['run', '-d', '--rm', image, 'sleep', '3600']);
  const ours: number[] = [];
  const exec: number[] = [];
  const [execute, session]: [number[], number[]] = [[], []];
  try {
    await sandbox.run(commandOf('true'));
    for (let round = 0; round < rounds; round += 1) {
      for (let at = 0; at < OURS_A_ROUND; at += 1) {
        ours.push(await milliseconds(() => sandbox.run(commandOf('echo hi'))));
      }
      for (let at = 0; at < THEIRS_A_ROUND; at += 1) {
        exec.push(
          await milliseconds(() => outputOf('docker', ['exec', plain, 'sh', '-c', 'echo hi'])),
        );
      }
      if (swerex === undefined) continue;
      const times = await askSweRex(swerex, ['latency', String(THEIRS_A_ROUND)]);
      execute.push(...(times['execute'] ?? []));
      session.push(...(times['session'] ?? []));
    }
  } finally {
    await sandbox.close();
    await outputOf('docker', ['rm', '-f', plain]);
  }
  const talaria = summary(ours);
  const against = (values: readonly number[]) => {
    const theirs = summary(values);
    return { ...theirs, talaria_is_faster_by: round(theirs.median / talaria.median) };
  };
  return {
    talaria,
    docker_exec: against(exec),
    ...(swerex !== undefined && {
      swe_rex_execute: against(execute),
      swe_rex_session: against(session),
    }),
  };
}
