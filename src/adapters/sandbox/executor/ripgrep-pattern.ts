/** A byte that is not part of UTF-8 stands for U+FFFD in a decoded line; so up to three may. */
const BROKEN = '(?-u:[\\x80-\\xFF]){1,3}';

const TOKENS: Readonly<Record<string, string>> = {
  '.': `(?:.|${BROKEN})`,
  // A line's carriage return is not part of it.
  $: '(?:\\r?$)',
  '\\d': '[0-9]',
  '\\w': '[0-9A-Za-z_]',
  '\\s': '[\\t\\n\\x0C\\r ]',
  '\\D': `(?:[^0-9]|${BROKEN})`,
  '\\W': `(?:[^0-9A-Za-z_]|${BROKEN})`,
  '\\S': `(?:[^\\t\\n\\x0C\\r ]|${BROKEN})`,
  '\\b': '(?-u:\\b)',
  '\\t': '\\t',
};
const IN_CLASS: Readonly<Record<string, string>> = {
  '\\d': '0-9',
  '\\w': '0-9A-Za-z_',
  '\\s': '\\t\\n\\x0C\\r ',
  '\\t': '\\t',
};

const PIECE = /\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|\(\?:|\(\?i\)|[\s\S]/gu;
const CLASS_MEMBERS = /\\.|[^\\]/gu;

/**
 * A pattern in ripgrep's syntax that matches every line that an RE2 pattern matches, and hardly
 * more; undefined where that can't be said. Lines found by it are to be held against the RE2
 * pattern itself. Its ASCII classes are spelled out, since ripgrep's are Unicode's.
 */
export function ripgrepPattern(pattern: string): string | undefined {
  const pieces = [...pattern.matchAll(PIECE)].map(([piece]) => piece);
  if (!pieces.every((_, at) => isAnchorInPlace(pieces, at))) return undefined;
  let result = '';
  for (const piece of pieces) {
    const translated = translatedPiece(piece);
    if (translated === undefined) return undefined;
    result += translated;
  }
  return result;
}

const OPENINGS: ReadonlySet<string | undefined> = new Set([undefined, '(', '(?:', '(?i)', '|']);
const CLOSINGS: ReadonlySet<string | undefined> = new Set([undefined, ')', '|']);

/** `^` begins and `$` ends an alternative; elsewhere, as in `$(^)`, the two programs differ. */
function isAnchorInPlace(pieces: readonly string[], at: number): boolean {
  if (pieces[at] === '^') return OPENINGS.has(pieces[at - 1]);
  return pieces[at] !== '$' || CLOSINGS.has(pieces[at + 1]);
}

function translatedPiece(piece: string): string | undefined {
  const token = TOKENS[piece];
  if (token !== undefined) return token;
  if (piece.startsWith('[')) return piece.length > 2 ? translatedClass(piece) : undefined;
  if (piece.startsWith('\\')) return punctuation(piece);
  if (piece === '(?:' || piece === '(?i)') return piece;
  // Neither a newline nor what is not well formed goes by an argument.
  return /^[\n\r\0\p{Cs}\uFFFD]$/u.test(piece) ? undefined : piece;
}

function translatedClass(piece: string): string | undefined {
  // A range from a hyphen here, a difference of classes there.
  if (piece.includes('--')) return undefined;
  const isNegated = piece[1] === '^';
  let members = '';
  for (const [member] of piece.slice(isNegated ? 2 : 1, -1).matchAll(CLASS_MEMBERS)) {
    const translated = translatedMember(member);
    if (translated === undefined) return undefined;
    members += translated;
  }
  return isNegated ? `(?:[^${members}]|${BROKEN})` : `[${members}]`;
}

function translatedMember(member: string): string | undefined {
  const known = IN_CLASS[member];
  if (known !== undefined) return known;
  if (member.startsWith('\\')) return punctuation(member);
  // `[:alpha:]` and its like are left to RE2; `&&` and `~~` mean nothing to it.
  if (member === '[' || member === ']') return undefined;
  return /^[&~^]$/.test(member) ? `\\${member}` : member;
}

/** An escaped mark stands for itself; ripgrep gives some of them (`\\<`) a meaning. */
function punctuation(escaped: string): string | undefined {
  if (!/^\\[!-/:-@[-`{-~]$/.test(escaped)) return undefined;
  return `\\x${escaped.charCodeAt(1).toString(16)}`;
}
