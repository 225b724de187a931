import { execFile } from 'node:child_process';
import { z } from 'zod';

export interface HelperDeps {
  /** The helper's whole environment; it is looked for on the PATH there. */
  env: Readonly<Record<string, string | undefined>>;
  /** Ends a helper at work. */
  signal?: AbortSignal | undefined;
  /** After which a helper is given up, in milliseconds. */
  helperTimeoutMs: number;
}

export interface HelperAnswer {
  /** `<token>` where the secret is an identity token. */
  username: string;
  secret: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,100}$/;
const MOST_BYTES = 1_000_000;
/** What helpers answer where they have nothing, word for word. */
const NOTHING = 'credentials not found in native keychain';

const answerSchema = z.object({ Username: z.string(), Secret: z.string() });

/**
 * Asks a program `docker-credential-<name>` for the login of a registry; resolves to undefined where
 * it has none. Throws errors that say which helper failed and how, with nothing of what it printed.
 */
export async function askCredentialHelper(
  name: string,
  registry: string,
  deps: HelperDeps,
): Promise<HelperAnswer | undefined> {
  const program = `docker-credential-${name}`;
  if (!NAME.test(name)) throw new Error('Docker is configured for a credential helper of no name');
  const { output, failure } = await answerOf(program, registry, deps);
  if (failure !== undefined) {
    if (output.includes(NOTHING)) return undefined;
    throw new Error(`${program} ${failure}`);
  }
  const parsed = parse(output);
  if (parsed === undefined) throw new Error(`${program} answered with no Username and Secret`);
  // An empty answer is how some helpers say that they have none.
  if (parsed.Secret === '') return undefined;
  return { username: parsed.Username, secret: parsed.Secret };
}

function answerOf(
  program: string,
  registry: string,
  { env, signal, helperTimeoutMs }: HelperDeps,
): Promise<{ output: string; failure: string | undefined }> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env },
      timeout: helperTimeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: MOST_BYTES,
      ...(signal && { signal }),
    };
    const child = execFile(program, ['get'], options, (error, stdout, stderr) => {
      const failure = error === null ? undefined : failureText(error, helperTimeoutMs);
      resolve({ output: failure === undefined ? stdout : stdout + stderr, failure });
    });
    // A helper that reads nothing closes the pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(registry);
  });
}

function failureText(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  timeoutMs: number,
): string {
  if (error.code === 'ENOENT') return 'is not on the PATH';
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'answered with too much';
  if (error.killed === true) return `did not answer within ${timeoutMs / 1000} s`;
  if (typeof error.code === 'number') return `failed with exit code ${error.code}`;
  if (typeof error.signal === 'string') return `was ended by ${error.signal}`;
  return `could not be run (${String(error.code)})`;
}

function parse(output: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
}
