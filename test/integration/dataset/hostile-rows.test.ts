import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { text } from '../../support/model-server-replies.ts';
import { loadDataset, skipsWithoutDatasets } from '../../support/python-datasets.ts';
import { expectSound } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();

/** A line for each field with each wrong type, and lines that are no object. */
const WRONG: string[] = [
  ...['7', '-0.5', 'true', 'null', '[]', '["p"]', '{}', '{"a":1}', '""'].map(
    (value) => `{"prompt":${value}}`,
  ),
  ...['image', 'docker_image', 'cwd'].flatMap((field) =>
    ['7', 'false', '[]', '["x"]', '{}', '"a\\u0000b"'].map(
      (value) => `{"prompt":"p","${field}":${value}}`,
    ),
  ),
  '{"Prompt":"p"}',
  '["prompt","p"]',
  '"p"',
  '7',
  'null',
  '{"prompt":"p"',
  "{'prompt':'p'}",
  '{"prompt":"p"}{"prompt":"q"}',
  '{"prompt":"raw \u0000 byte"}',
];

describe('rows of wrong types', () => {
  it('are counted, named and left out', async () => {
    const lines = WRONG.flatMap((line, index) => [line, `{"prompt":"good ${index}"}`]);
    await folder.write('mixed.jsonl', `${lines.join('\n')}\n`);
    const end = await folder.talaria(
      rehearsal('mixed', '--dataset_file=mixed.jsonl', '--num_workers=8'),
    );
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain(`${WRONG.length} bad lines are skipped:`);
    expect(end.stderr).toContain(
      'line 1: expected "prompt" to be a non-empty string, got the number 7',
    );
    const { trajectories, runFile } = expectSound(folder.at('data', 'mixed'));
    expect(runFile.passes[0]).toMatchObject({ rows: WRONG.length, invalid_rows: WRONG.length });
    expect(trajectories.map((row) => row.conversations[0]?.value).sort()).toEqual(
      WRONG.map((_, index) => `good ${index}`).sort(),
    );
  });

  it('make --strict refuse before any model call and without a trace', async () => {
    await folder.write('strict.jsonl', `${'{"prompt":"good"}\n'.repeat(50)}{"prompt":7}\n`);
    const words = ['run', '--dataset_file=strict.jsonl', '--run_name=s', '--batch_size=1'];
    const more = ['--model=m', `--base_url=${server.baseUrl}`, '--output_dir=strict'];
    const refused = await folder.talaria([...words, ...more, '--strict']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('the first is line 51: expected "prompt"');
    expect(server.requests).toHaveLength(0);
    expect(server.connections()).toBe(0);
    expect(existsSync(folder.at('strict'))).toBe(false);
    // The server is there: without --strict it is asked.
    expect((await folder.talaria([...words, ...more])).code).toBe(0);
    expect(server.requests).toHaveLength(50);
  });
});

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ reply: () => text('Done.') });
});
afterEach(() => server.close());

describe('what a row carries along', () => {
  it('stands in metadata.source as it was written', async () => {
    const fields = [
      '"id":12345678901234567890',
      '"float":1.0',
      '"huge":1e400',
      '"minus":-0',
      '"nested":{"b": [1, {"}": "\\"]"}], "a":null}',
      '"__proto__":{"polluted":true}',
      '"constructor":"c"',
      '"2":"\\ud800 \\u0000 \u2028"',
      '"metadata":{"source":"mine"}',
      '"completed":"no"',
      '"":[]',
    ];
    await folder.write('fields.jsonl', `{"a":1, "prompt":"p", ${fields.join(' , ')}}\n`);
    const end = await folder.talaria(rehearsal('fields', '--dataset_file=fields.jsonl'));
    expect(end.code, end.stderr).toBe(0);
    const [row] = expectSound(folder.at('data', 'fields')).trajectories;
    expect(row?.metadata.source).toBe(`{"a":1,${fields.join(',')}}`);
    expect(row).toMatchObject({ completed: true, outcome: 'completed' });
  });
});

const ODD = [
  'line \u2028 and paragraph \u2029 and next \u0085 line',
  'nul \0, bell \u0007, escape \u001b[2J',
  '\\ud800 spelt out, 😀 whole',
  'right to left \u202e and a mark \ufeff in the middle',
];
const LONE = ['lone \ud800 high', 'lone \udc00 low', '\udc00\ud800 the wrong way round'];

describe('odd texts of prompts', () => {
  async function run(): Promise<string> {
    const rows = [...ODD, ...LONE].map((prompt) => `${JSON.stringify({ prompt, note: prompt })}\n`);
    const bad = Buffer.concat([
      Buffer.from('{"prompt":"'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"}\n'),
    ]);
    await folder.write('odd.jsonl', Buffer.concat([bad, Buffer.from(rows.join(''))]));
    const words = rehearsal('odd', '--dataset_file=odd.jsonl', '--resume');
    const end = await folder.talaria(words);
    expect(end.code, end.stderr).toBe(0);
    return folder.at('data', 'odd');
  }

  it('come through to their rows, and a line that is not UTF-8 is a bad one', async () => {
    const { trajectories, runFile } = expectSound(await run());
    expect(runFile.passes[0]).toMatchObject({ rows: ODD.length + LONE.length, invalid_rows: 1 });
    const shown = trajectories
      .sort((a, b) => a.prompt_index - b.prompt_index)
      .map((row) => row.conversations[0]?.value);
    expect(shown.slice(0, ODD.length)).toEqual(ODD);
    // U+2028 in a row would end a line for some readers; a lone surrogate breaks pyarrow.
    const bytes = readFileSync(folder.at('data', 'odd', 'trajectories.jsonl'));
    expect(bytes.toString('utf8')).not.toMatch(/[\u2028\u2029]/);
    for (const [index, value] of shown.slice(ODD.length).entries()) {
      expect(value, LONE[index]).toBe(WRITTEN_LONE[index]);
    }
  });

  it.skipIf(skipsWithoutDatasets())('load with load_dataset', { timeout: 120_000 }, async () => {
    const path = await run();
    const { trajectories } = expectSound(path);
    const loaded = await loadDataset(path, [...trajectories.keys()]);
    expect(loaded.splits).toEqual({ train: ODD.length + LONE.length });
    expect(loaded.picked).toEqual(JSON.parse(JSON.stringify(trajectories)));
  });
});

/** As a row spells what UTF-8 can't hold. */
const WRITTEN_LONE = LONE.map((value) =>
  value.replaceAll(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (of) => `\\u${of.charCodeAt(0).toString(16)}`,
  ),
);
