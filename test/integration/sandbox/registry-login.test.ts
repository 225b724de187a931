import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createImageChecks } from '../../../src/adapters/sandbox/docker/image-check.ts';
import { createRegistryLogins } from '../../../src/adapters/sandbox/docker/registry-login.ts';
import { ImageUnavailableError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { hasRegistry, LOGIN } from '../../support/image-registry.ts';
import { useRegistryRuns } from '../../support/registry-runs.ts';
import { expectSound, filesUnder, readRun } from '../../support/run-files.ts';

// biome-ignore lint/style/noProcessEnv: the helper is put before the programs of the test run
const PATH = process.env['PATH'] ?? '';
const isThere = (await hasDocker()) && hasRegistry();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const WRONG = 'not-the-password';

describe.runIf(isThere)('images of a registry with a login', { timeout: 180_000 }, () => {
  const runs = useRegistryRuns({ login: true });

  /** A run of one prompt whose image is new, with this as Docker's config. */
  async function runWith(
    runName: string,
    config: (host: string) => object,
    env: Record<string, string> = {},
  ) {
    const { workshop, registry } = runs;
    const image = await registry.push(runName);
    await workshop.dataset([{ prompt: 'a', image: image.reference }]);
    const folder = join(workshop.path, '.docker');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'config.json'), JSON.stringify(config(registry.host)));
    const end = await runs.rehearse(runName, { json: true, verbose: true }, env);
    await expectNoSecret(runName, [end.stdout, end.stderr]);
    return { image, end, run: expectSound(workshop.folder(runName)) };
  }

  async function expectNoSecret(runName: string, said: string[]) {
    const folder = runs.workshop.folder(runName);
    const files = filesUnder(folder).map((name) => readFile(join(folder, name), 'utf8'));
    for (const text of [...said, ...(await Promise.all(files))]) {
      for (const secret of [LOGIN.password, WRONG]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(base64(`${LOGIN.username}:${secret}`));
      }
    }
  }

  async function helper(name: string, script: string): Promise<Record<string, string>> {
    const folder = join(runs.workshop.path, 'bin');
    await mkdir(folder, { recursive: true });
    const file = join(folder, `docker-credential-${name}`);
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { PATH: `${folder}:${PATH}` };
  }

  it("are pulled with the login of Docker's config", async () => {
    const auth = base64(`${LOGIN.username}:${LOGIN.password}`);
    const config = (host: string) => ({ auths: { [host]: { auth }, other: {} }, other: 1 });
    const { end, image, run } = await runWith('right', config);
    expect(end.code).toBe(0);
    expect(run.trajectories[0]?.metadata.image).toBe(image.pin);
  });

  it('are pulled with what a credential helper answers, asked for this registry', async () => {
    const { workshop, registry } = runs;
    const asked = join(workshop.path, 'asked');
    const answer = JSON.stringify({
      ServerURL: '',
      Username: LOGIN.username,
      Secret: LOGIN.password,
    });
    const env = await helper('test', `[ "$1" = get ] && cat > '${asked}' && echo '${answer}'`);
    const config = (host: string) => ({ credHelpers: { [host]: 'test' }, credsStore: 'none' });
    const { end } = await runWith('helped', config, env);
    expect(end.code).toBe(0);
    expect(await readFile(asked, 'utf8')).toBe(registry.host);
  });

  it('cannot be had with a wrong login, in the words of the registry', async () => {
    const auth = base64(`${LOGIN.username}:${WRONG}`);
    const { end } = await runWith('wrong', (host) => ({ auths: { [host]: { auth } } }));
    expect(end.code).toBe(1);
    const [failed] = readRun(runs.workshop.folder('wrong')).failed;
    expect(failed).toMatchObject({ outcome: 'failed/image_unavailable', api_calls: 0 });
    expect(failed?.reason).toMatch(/unauthorized: authentication required$/);
  });

  it.each([
    ['no login', {}, /no basic auth credentials$/],
    [
      "another registry's login",
      { auths: { 'x.example': { auth: base64('jo:x') } } },
      /no basic auth credentials$/,
    ],
    [
      'a helper that is not there',
      { credsStore: 'absent' },
      /no basic auth credentials; asked without login, since docker-credential-absent is not on the PATH$/,
    ],
    [
      'a config that is none',
      { auths: [WRONG] },
      /asked without login, since \S+config.json is not Docker's config in JSON$/,
    ],
  ])('cannot be had with %s, which is said', async (_, config, reason) => {
    const { workshop, registry, docker } = runs;
    const { reference } = await registry.push('refused');
    await writeFile(join(workshop.path, 'config.json'), JSON.stringify(config));
    const helpers = { env: { PATH }, helperTimeoutMs: 10_000 };
    const logins = createRegistryLogins({ configFolder: workshop.path, ...helpers });
    const checking = createImageChecks(docker, { logins }).check(reference);
    await expect(checking).rejects.toThrow(ImageUnavailableError);
    await expect(checking).rejects.toThrow(reason);
  });
});
