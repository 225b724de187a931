import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { InterruptedError } from '../interrupted-error.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

/** Longer than any key is. */
const LONGEST_KEY = 10_000;

/**
 * A key that is not in the process list: of the variable, where one is named, else asked for on a
 * terminal without showing it, else all of standard input. Throws `UsageError` where there is none.
 */
export async function readKey(variable: string | undefined, wiring: Wiring): Promise<string> {
  const given =
    variable === undefined
      ? await fromInput(wiring)
      : (wiring.env[variable] ?? missing(`the variable ${variable} is not set`));
  const key = given.trim();
  if (key === '') missing('expected a key, got nothing');
  if (/\s/.test(key) || key.length > LONGEST_KEY) {
    missing('expected a key on one line, got something else');
  }
  return key;
}

function missing(problem: string): never {
  throw new UsageError(
    `${problem}; a key comes from standard input or, with --from_env, from a variable`,
  );
}

async function fromInput({ stdin, stderr }: Wiring): Promise<string> {
  if (stdin.isTTY === true) {
    stderr.write('key (not shown): ');
    // Takes the echo, which is the key.
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: stdin, output, terminal: true });
    const interrupted = new AbortController();
    for (const event of ['SIGINT', 'close']) lines.once(event, () => interrupted.abort());
    try {
      return await lines.question('', { signal: interrupted.signal });
    } catch (error) {
      throw new InterruptedError('no key was stored', { cause: error });
    } finally {
      lines.close();
      stderr.write('\n');
    }
  }
  let text = '';
  for await (const part of stdin) {
    text += String(part);
    if (text.length > LONGEST_KEY) break;
  }
  return text;
}
