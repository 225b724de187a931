import pc from 'picocolors';
import { safeText } from './format.ts';

export type Colors = ReturnType<typeof pc.createColors>;

/** An output stream as a person sees it. */
export interface Terminal {
  readonly stream: NodeJS.WriteStream;
  readonly colors: Colors;
  /** Whether lines can be redrawn: a terminal of known size that obeys control sequences. */
  readonly isLive: boolean;
  /** Prints a line, above the live progress where there is one. */
  line(text: string): void;
  /** Hands lines to whoever redraws the end of the screen; undefined ends that. */
  lineThrough(print: ((text: string) => void) | undefined): void;
}

/** Looks at one stream alone: standard error may be a terminal and standard output a file. */
export function openTerminal(
  stream: NodeJS.WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const isScreen = stream.isTTY === true && env['TERM'] !== 'dumb';
  const direct = (text: string) => void stream.write(`${text}\n`);
  let print: Terminal['line'] = direct;
  return {
    stream,
    colors: pc.createColors(isScreen && !env['NO_COLOR']),
    isLive: isScreen && stream.columns > 0 && stream.rows > 0,
    line: (text) => print(text),
    lineThrough(by) {
      print = by ?? direct;
    },
  };
}

/** What went wrong, for people: texts of others that an error quotes can't steer the terminal. */
export function errorText(error: unknown, verbose: boolean): string {
  if (!(error instanceof Error)) return safeText(String(error));
  return safeText(verbose ? (error.stack ?? error.message) : error.message);
}
