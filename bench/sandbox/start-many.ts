import { type Bench, commandOf, nextSpec } from './open-bench.ts';
import { askSweRex, type SweRex } from './swe-rex.ts';
import { many, milliseconds, outputOf, round, summary } from './timing.ts';

/** Seconds for containers started, one command run in each, removed; sides taking turns. */
export async function startMany(
  { provider, image }: Bench,
  swerex: SweRex | undefined,
  of: { rounds: number; sandboxes: number; atOnce: number },
) {
  const { sandboxes, atOnce } = of;
  const talaria = () =>
    many(sandboxes, atOnce, async () => {
      const sandbox = await provider.open(nextSpec());
      const { head } = await sandbox.run(commandOf('echo hi'));
      if (Buffer.from(head).toString() !== 'hi\n') throw new Error('expected the command to work');
      await sandbox.close();
    });
  const plain = () =>
    many(sandboxes, atOnce, async () => {
      await outputOf('docker', ['run', '--rm', image, 'sh', '-c', 'echo hi']);
    });
  const seconds: Record<'talaria' | 'docker' | 'swerex', number[]> = {
    talaria: [],
    docker: [],
    swerex: [],
  };
  for (let turn = 0; turn < of.rounds; turn += 1) {
    seconds.talaria.push((await milliseconds(talaria)) / 1000);
    seconds.docker.push((await milliseconds(plain)) / 1000);
    if (swerex === undefined) continue;
    const times = await askSweRex(swerex, ['starts', String(sandboxes), String(atOnce)]);
    seconds.swerex.push(...(times['seconds'] ?? []));
  }
  const ours = summary(seconds.talaria);
  const against = (values: readonly number[]) => {
    const theirs = summary(values);
    return { ...theirs, talaria_takes: round(ours.median / theirs.median) };
  };
  return {
    sandboxes,
    at_once: atOnce,
    talaria: ours,
    docker_run_rm: against(seconds.docker),
    ...(swerex !== undefined && { swe_rex: against(seconds.swerex) }),
  };
}
