import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDatasetRow } from '../../../src/core/dataset/dataset-row.ts';

function rowOf(line: string) {
  const result = parseDatasetRow(line);
  if (!result.ok) throw new Error(result.reason);
  return result.row;
}

function reasonOf(line: string): string {
  const result = parseDatasetRow(line);
  return result.ok ? `no reason: ${JSON.stringify(result.row)}` : result.reason;
}

describe('a valid row', () => {
  it('fills what is absent with empty strings', () => {
    expect(rowOf('{"prompt":"go"}')).toEqual({ prompt: 'go', image: '', cwd: '', source: '{}' });
  });

  it.each([
    ['{"prompt":"p","image":"a","docker_image":"b"}', 'a'],
    ['{"prompt":"p","docker_image":"b"}', 'b'],
    ['{"prompt":"p","image":null,"docker_image":"b"}', 'b'],
    ['{"prompt":"p","image":"","docker_image":"b"}', 'b'],
    ['{"prompt":"p","image":null,"docker_image":null,"cwd":null}', ''],
  ])('%s has image %j', (line, image) => {
    expect(rowOf(line)).toMatchObject({ image, cwd: '', source: '{}' });
  });

  it('carries the other fields as they were written', () => {
    const line =
      '{ "id": 12345678901234567890, "prompt": "p", "n" : [1.0, -0, 1e400, {"}": "\\"]"}], "cwd": "w",' +
      ' "__proto__": {"a": 1}, "2": "\\ud800", "docker_image": "d", "constructor": null }';
    expect(rowOf(line)).toEqual({
      prompt: 'p',
      image: 'd',
      cwd: 'w',
      source:
        '{"id":12345678901234567890,"n":[1.0, -0, 1e400, {"}": "\\"]"}],' +
        '"__proto__":{"a": 1},"2":"\\ud800","constructor":null}',
    });
  });

  it('takes the last of equal keys, as JSON.parse does', () => {
    expect(rowOf('{"prompt":"a","x":1,"prompt":"b","\\u0078":2}')).toMatchObject({
      prompt: 'b',
      source: '{"x":2}',
    });
  });

  it('does not let a row reach Object.prototype', () => {
    rowOf('{"prompt":"p","__proto__":{"polluted":true}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(reasonOf('{"__proto__":{"prompt":"p"}}')).toContain('got nothing');
  });

  it('keeps U+2028, NUL and lone surrogates of the prompt', () => {
    expect(rowOf('{"prompt":"a\u2028b\\u0000c\\ud800d"}').prompt).toBe('a\u2028b\0c\ud800d');
  });

  it('gives back any JSON object in source', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, prompt) => {
        const others = Object.entries(fields).filter(
          ([key]) => !['prompt', 'image', 'docker_image', 'cwd'].includes(key),
        );
        const whole = Object.fromEntries([...others, ['prompt', `p${prompt}`]]);
        const { source } = rowOf(JSON.stringify(whole, null, 1));
        expect(JSON.parse(source)).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(others))));
      }),
    );
  });
});

describe('a bad row', () => {
  it.each([
    ['', /^expected a JSON object, got text that is not JSON/],
    ['{"prompt":"p"', /^expected a JSON object, got text that is not JSON/],
    ['[{"prompt":"p"}]', /^expected a JSON object, got an array$/],
    ['null', /^expected a JSON object, got null$/],
    ['"prompt"', /^expected a JSON object, got a string of 6 characters$/],
    ['{}', /^expected "prompt" to be a non-empty string, got nothing$/],
    ['{"prompt":""}', /^expected "prompt" to be a non-empty string, got an empty string$/],
    ['{"prompt":7}', /^expected "prompt" to be a non-empty string, got the number 7$/],
    ['{"prompt":["p"]}', /^expected "prompt" to be a non-empty string, got an array$/],
    ['{"prompt":null}', /^expected "prompt" to be a non-empty string, got null$/],
    ['{"prompt":"p","image":{}}', /^expected "image" to be a string or null, got an object$/],
    ['{"prompt":"p","image":"i","docker_image":1}', /"docker_image".* got the number 1$/],
    [
      '{"prompt":"p","cwd":false}',
      /^expected "cwd" to be a string or null, got the boolean false$/,
    ],
    ['{"prompt":"p","cwd":"a\\u0000b"}', /^expected "cwd" to be a string without NUL/],
  ])('%s', (line, reason) => {
    expect(reasonOf(line)).toMatch(reason);
  });

  it('has a short reason, on one line, that no terminal obeys', () => {
    const huge = 'x'.repeat(1_000_000);
    for (const line of [
      huge,
      `{"prompt":["${huge}"]}`,
      `"${huge}"`,
      `{"prompt":1${'0'.repeat(400)}}`,
    ]) {
      expect(reasonOf(line).length).toBeLessThan(300);
    }
    expect(reasonOf('\u001b]0;owned\u0007\u2028')).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (line) => {
        const result = parseDatasetRow(line);
        expect(result.ok ? result.row.prompt : result.reason).not.toBe('');
      }),
    );
  });
});
