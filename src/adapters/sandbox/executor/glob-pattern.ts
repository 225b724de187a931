import { RE2JS } from 're2js';
import { invalidPattern } from './file-errors.ts';

const MAX_GLOB = 1_000;

/** Whether a path relative to the search's folder matches. */
export type PathFilter = (relativePath: string) => boolean;

/**
 * A glob with `*`, `**`, `?`, `[…]` and `{a,b}`. Without a slash it is held against the name, with
 * one against the whole path. Matches in linear time. Throws `SandboxFileError`.
 */
export function compileGlob(glob: string): PathFilter {
  const overWholePath = glob.includes('/');
  try {
    if (glob === '' || glob.length > MAX_GLOB) throw new RangeError(`1 to ${MAX_GLOB} characters`);
    const pattern = RE2JS.compile(`^(?:${globSource(glob.replace(/^\.?\//, ''))})$`, RE2JS.DOTALL);
    return (path) => pattern.test(overWholePath ? path : path.slice(path.lastIndexOf('/') + 1));
  } catch (error) {
    throw invalidPattern('a glob such as *.py or src/**/*.ts', glob, error);
  }
}

const PIECE = /\*\*\/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|\\.|[{},]|[^*?[\\{},]+|[\s\S]/g;

function globSource(glob: string): string {
  let depth = 0;
  let source = '';
  for (const [piece] of glob.matchAll(PIECE)) {
    if (piece === '{') depth += 1;
    if (piece === '}' && depth === 0) {
      source += '\\}';
      continue;
    }
    source += pieceSource(piece, depth);
    if (piece === '}') depth -= 1;
  }
  return source;
}

function pieceSource(piece: string, depth: number): string {
  switch (piece) {
    case '**/':
      return '(?:.*/)?';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    case '{':
      return '(?:';
    case '}':
      return ')';
    case ',':
      return depth > 0 ? '|' : ',';
    default:
      if (piece.startsWith('[') && piece.length > 2) return classSource(piece);
      if (piece.startsWith('\\') && piece.length === 2) return RE2JS.quote(piece.slice(1));
      return RE2JS.quote(piece);
  }
}

function classSource(piece: string): string {
  const isNegated = piece[1] === '!' || piece[1] === '^';
  const members = piece.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\[\]^]/g, '\\$&');
  return `[${isNegated ? '^/' : ''}${members}]`;
}
