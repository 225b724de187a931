import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createOccurrences, promptHash, promptId } from '../../../src/core/dataset/prompt-id.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('promptHash', () => {
  it('is SHA-256 over the JSON of prompt, image and cwd', () => {
    // printf '["naïve \\"x\\"","","w"]' | sha256sum
    const hash = promptHash({ prompt: 'naïve "x"', image: '', cwd: 'w' }, sha256Hex);
    expect(hash).toBe('c03bf8abf38ad41631ddf1bf589279bfe58c4f0886cd3608a455907680ac4d8e');
  });

  it('tells apart what only concatenates alike', () => {
    const one = promptHash({ prompt: 'a', image: 'b', cwd: '' }, sha256Hex);
    const other = promptHash({ prompt: 'ab', image: '', cwd: '' }, sha256Hex);
    expect(one).not.toBe(other);
  });

  it('tells apart two lone surrogates, which UTF-8 cannot', () => {
    const one = promptHash({ prompt: '\ud800', image: '', cwd: '' }, sha256Hex);
    const other = promptHash({ prompt: '\ud801', image: '', cwd: '' }, sha256Hex);
    expect(one).not.toBe(other);
  });
});

describe('createOccurrences', () => {
  it('gives every row its samples, running over equal hashes', () => {
    const occurrences = createOccurrences(3);
    const first = ['a', 'b', 'a', 'a', '__proto__'].map((hash) => occurrences.take(hash));
    expect(first).toEqual([0, 0, 3, 6, 0]);
  });
});

it('joins hash and occurrence', () => {
  expect(promptId('ab', 4)).toBe('ab-4');
});
