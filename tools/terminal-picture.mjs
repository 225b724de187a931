// Draws docs/images/terminal.svg from a real run of the built command in a pseudo-terminal.
// Needs `script` of util-linux. `npm run build` first.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of util-linux: runs a command on a pseudo-terminal. */
const SCRIPT = 'script';
const COLUMNS = 104;
const PROMPTS = 300;
const BUNDLE = fileURLToPath(new URL('../dist/talaria.mjs', import.meta.url));
const PICTURE = new URL('../docs/images/terminal.svg', import.meta.url);
const FLAGS = '--dataset_file=prompts.jsonl --batch_size=10 --run_name=first --model=rehearsal';

/** What a terminal was sent, from the first line of the preflight to the last of the summary. */
function recordRun() {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-picture-'));
  try {
    const rows = Array.from({ length: PROMPTS }, (_, index) =>
      JSON.stringify({ prompt: `Write a script that prints the first ${index + 2} primes.` }),
    );
    writeFileSync(join(folder, 'prompts.jsonl'), `${rows.join('\n')}\n`);
    const command = `stty cols ${COLUMNS} rows 40; exec '${process.execPath}' '${BUNDLE}' run ${FLAGS}`;
    return execFileSync(SCRIPT, ['-qfc', command, '/dev/null'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      // biome-ignore lint/style/noProcessEnv: where programs are is a matter of the machine
      env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color' },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The screen after each redraw; a line is a list of [character, style]. */
function screenFrames(sent) {
  const screen = { lines: [[]], row: 0, column: 0, style: '' };
  const frames = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is read
  for (const [token, parameters, final] of sent.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|./gsu)) {
    if (parameters === '?2026' && final === 'l') frames.push(copyOf(screen));
    if (final === undefined) print(screen, token);
    else SEQUENCES[final]?.(screen, parameters);
    while (screen.row >= screen.lines.length) screen.lines.push([]);
  }
  return [...frames, copyOf(screen)];
}

/** What the control sequences do that `log-update` and colours use, by their last letter. */
const SEQUENCES = {
  A: (screen, count) => {
    screen.row = Math.max(0, screen.row - Number(count || 1));
  },
  B: (screen, count) => {
    screen.row += Number(count || 1);
  },
  G: (screen, column) => {
    screen.column = Number(column || 1) - 1;
  },
  K: (screen, part) => {
    screen.lines[screen.row].splice(part === '2' ? 0 : screen.column);
  },
  m: (screen, code) => {
    screen.style = styleAfter(screen.style, code);
  },
};

function print(screen, character) {
  if (character === '\r') {
    screen.column = 0;
  } else if (character === '\n') {
    screen.row += 1;
  } else {
    screen.lines[screen.row][screen.column] = [character, screen.style];
    screen.column += 1;
  }
}

function copyOf({ lines }) {
  return lines.map((line) => [...line]);
}

function styleAfter(style, parameters) {
  const codes = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow' };
  if (parameters === '39') return style.includes('dim') ? 'dim' : '';
  return codes[parameters] ?? '';
}

function textOf(line) {
  return Array.from(line, (cell) => cell?.[0] ?? ' ').join('');
}

function percentOf(lines) {
  const bar = lines.map(textOf).find((text) => text.startsWith('━'));
  return Number(bar?.match(/(\d+) %/)?.[1] ?? 0);
}

/** The command, the preflight, progress on the way, and the end of the same run. */
function scene(middle, last) {
  const written = (text, style) => Array.from(text, (character) => [character, style]);
  const barAt = (lines) => lines.findIndex((line) => textOf(line).startsWith('━'));
  return [
    [...written('$ ', 'dim'), ...written(`npx talaria run ${FLAGS}`, 'bold')],
    [],
    ...middle.slice(0, barAt(middle) + 3),
    written('  ⋮', 'dim'),
    ...last.slice(barAt(last)),
  ];
}

function svg(lines) {
  const size = { character: 8.4, line: 19, left: 22, top: 52 };
  while (textOf(lines.at(-1) ?? [['x']]).trim() === '') lines.pop();
  const width = Math.ceil(size.left * 2 + size.character * COLUMNS);
  const height = size.top + size.line * lines.length + 10;
  const texts = lines.map((line, index) => {
    const y = size.top + size.line * index;
    const parts = runs(line).map(({ text, style, from }) => {
      const x = (size.left + from * size.character).toFixed(1);
      const length = (text.length * size.character).toFixed(1);
      return `<tspan x="${x}" textLength="${length}"${style === '' ? '' : ` class="${style}"`}>${escaped(text)}</tspan>`;
    });
    return parts.length === 0 ? '' : `<text y="${y}" xml:space="preserve">${parts.join('')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A run of ${PROMPTS} prompts in a terminal: preflight, progress, and the tables at the end">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d7dce2; }
.bold { font-weight: bold; fill: #ffffff; } .dim { fill: #7d8794; } .red { fill: #ff7b72; } .green { fill: #56d364; } .yellow { fill: #e3b341; }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#12161c"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${texts.filter((text) => text !== '').join('\n')}
</svg>
`;
}

/** Neighbours of one style, so that each keeps its column whatever the width of the font. */
function runs(line) {
  const found = [];
  Array.from(line).forEach((cell, index) => {
    const [character, style] = cell ?? [' ', ''];
    const open = found.at(-1);
    if (open?.style === style && open.from + open.text.length === index) open.text += character;
    else found.push({ text: character, style, from: index });
  });
  return found.filter(({ text }) => text.trim() !== '');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const frames = screenFrames(recordRun());
const last = frames.at(-1) ?? [];
const middle = frames.find((lines) => percentOf(lines) >= 55) ?? last;
writeFileSync(PICTURE, svg(scene(middle, last)));
