const SHOWN = 3;
const MAX_LINES = 20_000;
const MAX_LINE = 200;
/** Below this share of common letter pairs, lines are not alike. */
const ALIKE = 0.5;

export interface NearestLine {
  /** 1-based. */
  line: number;
  text: string;
}

/** The lines of a text most like the first line of a wanted text that did not occur in it. */
export function nearestLines(content: string, wanted: string): NearestLine[] {
  const first = wanted.split('\n').find((line) => line.trim() !== '');
  if (first === undefined) return [];
  const pairs = letterPairs(first);
  return content
    .split('\n', MAX_LINES)
    .map((text, index) => ({ line: index + 1, text, likeness: likeness(pairs, letterPairs(text)) }))
    .filter((candidate) => candidate.likeness >= ALIKE)
    .sort((a, b) => b.likeness - a.likeness || a.line - b.line)
    .slice(0, SHOWN)
    .map(({ line, text }) => ({ line, text: text.slice(0, MAX_LINE) }));
}

function letterPairs(line: string): Set<string> {
  const text = line.trim().slice(0, MAX_LINE);
  const pairs = new Set<string>();
  for (let at = 0; at < Math.max(1, text.length - 1); at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Dice's coefficient: 1 for the same pairs, 0 for none in common. */
function likeness(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}
