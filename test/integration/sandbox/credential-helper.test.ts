import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createImageChecks } from '../../../src/adapters/sandbox/docker/image-check.ts';
import { createRegistryLogins } from '../../../src/adapters/sandbox/docker/registry-login.ts';
import { hasDocker } from '../../support/docker-daemon.ts';

const HOST = 'registry.example:5000';
const HUB = 'https://index.docker.io/v1/';
const SECRET = 'the-secret-word';
const base64 = (text: string) => Buffer.from(text).toString('base64');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talaria-logins-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function loginsWith(config: object | string, helperTimeoutMs = 10_000) {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  await writeFile(join(folder, 'config.json'), text);
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  return createRegistryLogins({ configFolder: folder, env, helperTimeoutMs });
}

async function helper(name: string, script: string): Promise<void> {
  const file = join(folder, `docker-credential-${name}`);
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

describe("logins of Docker's config", () => {
  it.each([
    ['its host', HOST, HOST],
    ['an address', `https://${HOST}/v2/`, HOST],
    ["Docker's own registry", HUB, 'docker.io'],
  ])('are found by %s', async (_, key, registry) => {
    const logins = await loginsWith({ auths: { [key]: { auth: base64(`jo:a:${SECRET}\0`) } } });
    const serveraddress = key === HUB ? HUB : HOST;
    expect(await logins(registry)).toEqual({
      auth: { serveraddress, username: 'jo', password: `a:${SECRET}` },
    });
    expect(await logins('other.example')).toEqual({ auth: undefined });
    expect(await logins('registry.example')).toEqual({ auth: undefined });
  });

  it('may be identity tokens, and may be empty', async () => {
    const auths = { [HOST]: { identitytoken: SECRET }, 'b.example': {}, 'constructor.x': null };
    const logins = await loginsWith({ auths: { ...auths, 'constructor.x': { auth: '' } } });
    expect(await logins(HOST)).toEqual({ auth: { serveraddress: HOST, identitytoken: SECRET } });
    expect(await logins('b.example')).toEqual({ auth: undefined });
    expect(await logins('constructor')).toEqual({ auth: undefined });
  });

  it.each([
    ['no JSON', SECRET, /config\.json is not Docker's config in JSON$/],
    [
      'of another form',
      { auths: { [HOST]: { auth: [SECRET] } } },
      /is not Docker's config in JSON$/,
    ],
    [
      'a login that is none',
      { auths: { [HOST]: { auth: base64(SECRET) } } },
      /is not name:password/,
    ],
    ['a helper with a path', { credsStore: '../x' }, /a credential helper of no name$/],
  ])('are told to be missing where the config is %s, quoting nothing', async (_, config, words) => {
    const login = await (await loginsWith(config))(HOST);
    expect(login.auth).toBeUndefined();
    expect(login.problem).toMatch(words);
    expect(login.problem).not.toContain(SECRET);
  });
});

describe('logins of credential helpers', () => {
  it('are identity tokens where the name says so', async () => {
    await helper('token', `echo '{"ServerURL":"","Username":"<token>","Secret":"${SECRET}"}'`);
    const logins = await loginsWith({ credHelpers: { [HOST]: 'token' }, credsStore: 'absent' });
    expect(await logins(HOST)).toEqual({ auth: { serveraddress: HOST, identitytoken: SECRET } });
    expect((await logins('docker.io')).problem).toBe('docker-credential-absent is not on the PATH');
  });

  it('may not be there', async () => {
    await helper('none', 'echo "credentials not found in native keychain"; exit 1');
    await helper('empty', 'echo \'{"Username":"","Secret":""}\'');
    const logins = await loginsWith({ credHelpers: { [HOST]: 'none', 'b.example': 'empty' } });
    expect(await logins(HOST)).toEqual({ auth: undefined });
    expect(await logins('b.example')).toEqual({ auth: undefined });
  });

  it.each([
    ['fails', `echo ${SECRET}; echo ${SECRET} >&2; exit 3`, 'failed with exit code 3'],
    [
      'answers something else',
      `echo '{"Secret":"${SECRET}"}'`,
      'answered with no Username and Secret',
    ],
    ['answers without end', 'yes', 'answered with too much'],
    ['hangs', 'sleep 100', 'did not answer within 1 s'],
    ['kills itself', 'kill -9 $$', 'was ended by SIGKILL'],
  ])('are missing where the helper %s, which is asked once', async (_, script, words) => {
    await helper('bad', `echo asked >> '${folder}/asked'\n${script}`);
    await rm(join(folder, 'asked'), { force: true });
    const logins = await loginsWith(
      { credsStore: 'bad' },
      words.includes('within') ? 1_000 : 10_000,
    );
    const problem = `docker-credential-bad ${words}`;
    expect(await logins(HOST)).toEqual({ auth: undefined, problem });
    await writeFile(join(folder, 'docker-credential-bad'), '');
    expect(await logins(HOST)).toEqual({ auth: undefined, problem });
  });
});

describe.runIf(await hasDocker())('a login', () => {
  it('is not repeated where a registry repeats it', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { authorization = '' } = request.headers;
      seen.push(authorization);
      response.setHeader('content-type', 'application/json');
      response.setHeader('www-authenticate', 'Basic realm="test"');
      response.statusCode = request.url === '/v2/' ? 401 : 400;
      const message = `you sent ${authorization}, which is jo and ${SECRET}`;
      response.end(JSON.stringify({ errors: [{ code: 'DENIED', message }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const logins = await loginsWith({ auths: { [host]: { auth: base64(`jo:${SECRET}`) } } });
    const checking = createImageChecks(new Docker(), { logins }).check(`${host}/a:1`);
    const error: Error = await checking.then(
      () => Promise.reject(new Error('it was pulled')),
      (reason: Error) => reason,
    );
    expect(seen).toContain(`Basic ${base64(`jo:${SECRET}`)}`);
    expect(error.message).toContain('you sent Basic …, which is jo and …');
    expect(error.cause).toBeUndefined();
  });
});
