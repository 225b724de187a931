import { describe, expect, it } from 'vitest';
import { datasetCard } from '../../../src/core/run/dataset-card.ts';
import { trajectoryRowWithCall } from '../../unit/trajectory/trajectory-row.ts';

const FACTS = { runName: 'first', model: 'some/model', rows: 2, rehearsal: false };

/** Dotted paths of every field of a row, as its JSON has them. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    return [at, ...pathsOf(inner, at)];
  });
}

/** Dotted paths of every feature of a card, by its indentation. */
function featurePaths(card: string): string[] {
  const stack: { indent: number; path: string }[] = [];
  const paths: string[] = [];
  for (const [, spaces = '', name] of card.matchAll(/^( *)- name: (".*")$/gm)) {
    while ((stack.at(-1)?.indent ?? -1) >= spaces.length) stack.pop();
    const path = `${stack.at(-1)?.path ?? ''}.${JSON.parse(String(name))}`;
    stack.push({ indent: spaces.length, path });
    paths.push(path);
  }
  return paths;
}

describe('datasetCard', () => {
  it('has a feature for every field of a row, and no other', () => {
    const expected = new Set(pathsOf(trajectoryRowWithCall(0)));
    expect(featurePaths(datasetCard(FACTS)).sort()).toEqual([...expected].sort());
  });

  it('says that it is a rehearsal where it is, and only there', () => {
    expect(datasetCard({ ...FACTS, rehearsal: true })).toMatch(
      /\n- rehearsal\n[\s\S]*no model was asked/,
    );
    expect(datasetCard(FACTS)).not.toMatch(/rehearsal/);
  });

  it('names run, model, rows and the call that loads it', () => {
    const card = datasetCard(FACTS);
    expect(card).toContain('# first\n');
    expect(card).toContain('2 agent trajectories, made by Talaria with the model `some/model`');
    expect(card).toContain('load_dataset("data/first", split="train")');
    expect(datasetCard({ ...FACTS, rows: 1 })).toContain('1 agent trajectory, made');
  });

  it('keeps a hostile model name on its line', () => {
    const card = datasetCard({ ...FACTS, model: 'a`\n---\n# owned' });
    expect(card).toContain('`a??---?# owned`');
  });
});
