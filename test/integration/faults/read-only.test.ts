import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digests, expectSound, type StoredRun } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';
import { expectAsUndisturbed, expectClearEnd, runFaulty } from './faulty-run.ts';
import { mountSmallDisk, type SmallDisk, skipsWithoutMounts } from './small-disk.ts';

const folder = useCommandFolder();
/** Root may write everywhere, unless it gives up its capabilities. */
const AS_USER =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];

beforeEach(() => folder.write('prompts.jsonl', '{"prompt":"a"}\n{"prompt":"b"}\n{"prompt":"c"}\n'));

function run(outputDir: string, ...more: string[]): string[] {
  return rehearsal('r', `--output_dir=${outputDir}`, '--num_workers=1', ...more);
}

describe.skipIf(skipsWithoutMounts())('a disk that can only be read', () => {
  let disk: SmallDisk;
  beforeEach(() => {
    disk = mountSmallDisk(folder.at('disk'));
  });
  afterEach(() => disk.unmount());

  it('is refused for a new run, before anything else', async () => {
    disk.remount('ro');
    const end = await runFaulty(run(`${disk.path}/data`), { cwd: folder.path });
    expectClearEnd(end, /--output_dir: expected a folder to write into, got .*EROFS/, 2);
  });

  it('is named by a resume and a merge, which go on once it is writable', async () => {
    const first = await runFaulty(run(disk.path), { cwd: folder.path });
    expect(first.code, first.stderr).toBe(0);
    const undisturbed = expectSound(`${disk.path}/r`);
    const before = digests(`${disk.path}/r`);
    disk.remount('ro');
    const resume = await runFaulty(run(disk.path, '--resume'), { cwd: folder.path });
    expectClearEnd(
      resume,
      /disk\/r\/\.lock: its disk can only be read \(EROFS\); make it writable/,
    );
    const merge = ['merge', '--run_name=r', `--output_dir=${disk.path}`];
    expectClearEnd(await runFaulty(merge, { cwd: folder.path }), /can only be read \(EROFS\)/);
    disk.remount('rw');
    expect(digests(`${disk.path}/r`)).toEqual(before);
    expect((await runFaulty(run(disk.path, '--resume'), { cwd: folder.path })).code).toBe(0);
    expectAsUndisturbed(`${disk.path}/r`, undisturbed);
  });

  it('is no place for sandboxes', async () => {
    disk.remount('ro');
    const options = { cwd: folder.path, env: { TMPDIR: disk.path } };
    const end = await runFaulty(run('sandboxless'), options);
    expectClearEnd(end, /no sandbox in .*EROFS.*TMPDIR may name another folder/);
  });
});

describe('a folder that this user may not write', () => {
  it('is refused for a new run', async () => {
    const fault = { command: 'mkdir -p closed; chmod 555 closed', on: 'mkdir .*closed' };
    const end = await runFaulty(run('closed'), { cwd: folder.path, fault, under: AS_USER });
    expectClearEnd(end, /--output_dir: expected a folder to write into, got closed: EACCES/, 2);
  });

  it.each([
    ['an open batch', 'open .*batch_1.open', /batch_1\.open\.jsonl/],
    ['closing a batch', 'rename .*batch_0.open', /batch_0\.open\.jsonl/],
    ['merging', 'open .*/trajectories', /trajectories\.jsonl/],
  ])(
    'in the middle, at %s, ends the run in clear words; a resume goes on',
    async (at, on, names) => {
      const outputDir = `closing-${at.replaceAll(' ', '-')}`;
      const calm = await undisturbedRun();
      const fault = { command: `chmod 555 ${outputDir}/r`, on };
      const end = await runFaulty(run(outputDir), { cwd: folder.path, fault, under: AS_USER });
      expectClearEnd(end, /this user may not do that \(EACCES\); mend the permissions/);
      expect(end.stderr).toMatch(names);
      const still = await runFaulty(run(outputDir, '--resume'), {
        cwd: folder.path,
        under: AS_USER,
      });
      expectClearEnd(still, /\(EACCES\)/);
      const again = await runFaulty(run(outputDir, '--resume'), { cwd: folder.path });
      if (AS_USER.length > 0) expect(again.code, again.stderr).toBe(0);
      if (AS_USER.length > 0) expectAsUndisturbed(folder.at(outputDir, 'r'), calm);
    },
  );
});

it('a file in the place of the output folder or of the run is named', async () => {
  writeFileSync(folder.at('file'), 'mine');
  const inPlace = await runFaulty(run('file'), { cwd: folder.path });
  expectClearEnd(inPlace, /--output_dir: expected a folder to write into, got file/, 2);
  await runFaulty(rehearsal('x', '--output_dir=other'), { cwd: folder.path });
  writeFileSync(folder.at('other', 'r'), 'mine');
  const ofRun = await runFaulty(run('other'), { cwd: folder.path });
  expectClearEnd(ofRun, /other\/r/);
});

async function undisturbedRun(): Promise<StoredRun> {
  const end = await runFaulty(run('calm', '--resume'), { cwd: folder.path });
  expect(end.code, end.stderr).toBe(0);
  return expectSound(folder.at('calm', 'r'));
}
