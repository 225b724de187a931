import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type Docker from 'dockerode';

/** From Debian's busybox-static and bash-static. */
const BUSYBOX = '/bin/busybox';
const BASH = '/usr/bin/bash-static';
/** From util-linux, as Debian's Node images have it. */
const SCRIPT = '/usr/bin/script';

const FROM_BUSYBOX = [
  'FROM scratch',
  'COPY busybox /bin/busybox',
  'RUN ["/bin/busybox", "--install", "-s", "/bin"]',
  'RUN mkdir -p /tmp /root /etc && chmod 1777 /tmp && echo "root:x:0:0:root:/root:/bin/sh" > /etc/passwd',
];

const IDLE_WORKER = [
  'trap "exit 143" TERM',
  'if [ "$1" = init ]; then chmod 1777 /.talaria-io/*; exit 0; fi',
  'env > /.talaria-io/0/new && mv /.talaria-io/0/new /.talaria-io/0/agent.env',
  'until [ -e /.talaria-io/0/end ]; do sleep 0.1; done',
  'exit $(cat /.talaria-io/0/end)',
].join('; ');

/** Images of every kind, by the part of their name after `talaria-test/`. */
const IMAGES = {
  busybox: FROM_BUSYBOX,
  bash: [...FROM_BUSYBOX, 'COPY bash-static /bin/bash'],
  // One static file; neither shell nor /tmp nor /etc.
  static: ['FROM scratch', 'COPY busybox /the-program', 'CMD ["/the-program", "true"]'],
  user: [
    ...FROM_BUSYBOX,
    'RUN echo "jo:x:1234:1234:Jo:/home/jo:/bin/sh" >> /etc/passwd && mkdir -p /home/jo && chown 1234 /home/jo',
    'USER jo',
  ],
  'unnamed-user': [...FROM_BUSYBOX, 'USER 4321:4321'],
  everything: [
    ...FROM_BUSYBOX,
    'RUN mkdir -p /app/data && echo there > /app/data/file',
    'ENV APP_MODE=test SOME_API_KEY=sk-secret NODE_OPTIONS=--require=/no/such LD_PRELOAD=/no/such.so',
    'WORKDIR /app',
    'VOLUME /app/data',
    'HEALTHCHECK --interval=1s CMD false',
    'STOPSIGNAL SIGKILL',
    'ENTRYPOINT ["/bin/false"]',
    'CMD ["never"]',
  ],
  // In place of the worker's: says what its environment is, and ends when it is told with which code.
  'idle-worker': [
    ...FROM_BUSYBOX,
    `RUN echo '${IDLE_WORKER}' > /worker.sh`,
    'ENTRYPOINT ["/bin/sh", "/worker.sh"]',
  ],
} as const;

export type TestImage = keyof typeof IMAGES;

/** Makes an image of this machine's own busybox, without any registry; gives its reference. */
export function makeImage(docker: Docker, name: TestImage): Promise<string> {
  return build(docker, { name, dockerfile: IMAGES[name], files: [BUSYBOX, BASH] });
}

/** Stand-ins for the bases of containers/sandbox/Dockerfile where there is no registry. */
export async function runtimeBases(docker: Docker): Promise<Record<string, string>> {
  const own = { NODE_IMAGE: 'node:22-bookworm-slim', BUSYBOX_IMAGE: 'busybox:1.37-musl' };
  const found = await Promise.all(
    Object.values(own).map((reference) =>
      docker
        .getImage(reference)
        .inspect()
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  if (found.every(Boolean)) return own;
  return { NODE_IMAGE: await nodeImage(docker), BUSYBOX_IMAGE: await makeImage(docker, 'busybox') };
}

function nodeImage(docker: Docker): Promise<string> {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  const libraries = sharedObjects.filter((path) => path.startsWith('/') && path.includes('.so'));
  return build(docker, {
    name: 'node',
    dockerfile: ['FROM scratch', 'COPY node /usr/local/bin/node', 'COPY root/ /'],
    files: [],
    prepare(folder) {
      cpSync(realpathSync(process.execPath), join(folder, 'node'));
      for (const file of [SCRIPT, ...libraries, ...librariesOf(SCRIPT)]) {
        const to = join(folder, 'root', file);
        mkdirSync(dirname(to), { recursive: true });
        cpSync(realpathSync(file), to);
      }
    },
  });
}

function librariesOf(program: string): string[] {
  const listed = execFileSync('/usr/bin/ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/=> (\/\S+) /g)].flatMap(([, path]) => path ?? []);
}

async function build(
  docker: Docker,
  of: {
    name: string;
    dockerfile: readonly string[];
    files: readonly string[];
    prepare?: (folder: string) => void;
  },
): Promise<string> {
  const reference = `talaria-test/${of.name}:latest`;
  const context = await mkdtemp(join(tmpdir(), 'talaria-image-'));
  try {
    writeFileSync(join(context, 'Dockerfile'), `${of.dockerfile.join('\n')}\n`);
    for (const file of of.files) {
      if (!existsSync(file))
        throw new Error(`${file} is missing: install busybox-static and bash-static`);
      cpSync(realpathSync(file), join(context, file.slice(file.lastIndexOf('/') + 1)));
    }
    of.prepare?.(context);
    const output = await docker.buildImage(
      { context, src: ['.'] },
      { t: reference, forcerm: true },
    );
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(output, (error) => (error === null ? resolve() : reject(error)));
    });
    return reference;
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
