/** Kinds of sameness, strictest first. */
export const SAMENESS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Finds runs of lines in a text, by any kind of sameness. */
export interface LineIndex {
  /** Where the wanted lines begin, in order. */
  find(wanted: readonly string[], same: (line: string) => string): number[];
}

/** Looks only where the rarest of the wanted lines is, so that long files cost little. */
export function createLineIndex(lines: readonly string[]): LineIndex {
  const byKind = new Map<(line: string) => string, Map<string, number[]>>();

  function positions(same: (line: string) => string): Map<string, number[]> {
    const known = byKind.get(same);
    if (known !== undefined) return known;
    const made = new Map<string, number[]>();
    for (const [index, line] of lines.entries()) {
      const key = same(line);
      const at = made.get(key);
      if (at === undefined) made.set(key, [index]);
      else at.push(index);
    }
    byKind.set(same, made);
    return made;
  }

  return {
    find(wanted, same) {
      const where = positions(same);
      const keys = wanted.map(same);
      let rarest: { offset: number; at: readonly number[] } | undefined;
      for (const [offset, key] of keys.entries()) {
        const at = where.get(key) ?? [];
        if (rarest === undefined || at.length < rarest.at.length) rarest = { offset, at };
      }
      if (rarest === undefined) return [];
      const { offset } = rarest;
      return rarest.at
        .map((index) => index - offset)
        .filter((start) => start >= 0 && start + keys.length <= lines.length)
        .filter((start) => keys.every((key, add) => same(lines[start + add] ?? '') === key));
    },
  };
}
