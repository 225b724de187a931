// Draws what growth.mjs measured: time, memory and bytes written against the number of prompts.
const WIDTH = 880;
const HEIGHT = 300;
const PANEL = { width: 150, height: 190, left: 52, top: 48, gap: 62 };
const PARTS = [
  { key: 'run', label: 'run', colour: '#2563eb' },
  { key: 'resume', label: 'resume, nothing to do', colour: '#d97706' },
  { key: 'merge', label: 'merge', colour: '#059669' },
];
const PANELS = [
  { title: 'time (s)', value: (of) => of.wallSeconds, log: true },
  { title: 'CPU (s)', value: (of) => of.cpuSeconds, log: true },
  {
    title: 'peak memory (MiB)',
    value: (of) => of.peakRssBytes / 2 ** 20,
    log: false,
  },
  { title: 'written (MB)', value: (of) => of.writtenBytes / 1e6, log: true },
];

/** The whole picture as SVG text. */
export function growthPicture({ sizes, workers }) {
  const panels = PANELS.map((panel, index) => drawPanel(panel, sizes, index)).join('\n');
  const legend = PARTS.map(({ label, colour }, index) => {
    const x = PANEL.left + index * 190;
    return `<line x1="${x}" y1="282" x2="${x + 22}" y2="282" stroke="${colour}" stroke-width="2"/><text x="${x + 28}" y="286">${label}</text>`;
  }).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#334155">
<title>Time, memory and bytes written against the number of prompts</title>
<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#ffffff"/>
<text x="${PANEL.left}" y="22" font-size="14" font-weight="600">Against the number of prompts (rehearsal model, ${workers} at once)</text>
${panels}
${legend}
</svg>
`;
}

function drawPanel({ title, value, log }, sizes, index) {
  const left = PANEL.left + index * (PANEL.width + PANEL.gap);
  const bottom = PANEL.top + PANEL.height;
  const values = sizes.flatMap((size) => PARTS.map(({ key }) => value(size[key])));
  const x = scale(
    sizes.map(({ prompts }) => prompts),
    left,
    left + PANEL.width,
    true,
  );
  const y = scale(log ? values : [0, ...values], bottom, PANEL.top + 12, log);
  const grid = y.ticks.map(
    (tick) =>
      `<line x1="${left}" y1="${y.at(tick)}" x2="${left + PANEL.width}" y2="${y.at(tick)}" stroke="#e2e8f0"/><text x="${left - 6}" y="${y.at(tick) + 4}" text-anchor="end">${shortNumber(tick)}</text>`,
  );
  const marks = x.ticks.map(
    (tick) =>
      `<text x="${x.at(tick)}" y="${bottom + 17}" text-anchor="middle">${shortNumber(tick)}</text>`,
  );
  const lines = PARTS.map(({ key, colour }) => {
    const points = sizes.map((size) => [x.at(size.prompts), y.at(value(size[key]))]);
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`);
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
  });
  return [
    `<text x="${left}" y="${PANEL.top - 4}" font-weight="600">${title}</text>`,
    ...grid,
    ...marks,
    ...lines,
  ].join('\n');
}

function scale(values, from, to, log) {
  const [low, high] = log ? powers(values) : [0, roundUp(Math.max(...values))];
  const part = (of) =>
    log ? Math.log(of / low) / Math.log(high / low) : (of - low) / (high - low);
  const ticks = log
    ? Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, step) => low * 10 ** step)
    : [0, 1, 2, 3, 4].map((quarter) => (high * quarter) / 4);
  return { ticks, at: (of) => Math.round((from + part(of) * (to - from)) * 10) / 10 };
}

function powers(values) {
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  return [low, Math.max(high, low * 10)];
}

/** 1, 2 or 4 times a power of ten, at least `value`: its quarters are short numbers. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 10].map((factor) => factor * power).find((of) => of >= value) ?? value;
}

function shortNumber(value) {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));
}
