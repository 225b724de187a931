import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// biome-ignore lint/style/noProcessEnv: which Python to use is a setting of the test run, not of ours
const ENVIRONMENT = process.env;
const PYTHON = ENVIRONMENT['TALARIA_TEST_PYTHON'] ?? 'python3';
const IS_CI = ENVIRONMENT['CI'] === 'true';

const SCRIPT = `
import json, sys
from datasets import load_dataset
splits = load_dataset(sys.argv[1])
rows = splits["train"]
json.dump({
    "splits": {name: split.num_rows for name, split in splits.items()},
    "features": str(rows.features),
    "prompt_index": rows["prompt_index"][:],
    "picked": [rows[index] for index in json.loads(sys.argv[2])],
}, sys.stdout)
`;

/** What `load_dataset` made of a folder. */
export interface LoadedDataset {
  splits: Record<string, number>;
  features: string;
  /** The column, in the order of the rows. */
  prompt_index: number[];
  /** The rows asked for. */
  picked: unknown[];
}

/**
 * Whether tests that need Python's `datasets` are to be skipped, which is said on standard error.
 * Never in CI: there they shall fail.
 */
export function skipsWithoutDatasets(): boolean {
  if (IS_CI) return false;
  const probe = spawnSync(PYTHON, ['-c', 'import datasets'], { encoding: 'utf8' });
  if (probe.status === 0) return false;
  const why = probe.error?.message ?? probe.stderr.trim().split('\n').at(-1);
  process.stderr.write(
    `\nSKIPPED: load_dataset was not tested, ${PYTHON} cannot import datasets (${why}).\n` +
      'Name a Python that can in TALARIA_TEST_PYTHON.\n\n',
  );
  return true;
}

/** `load_dataset(folder)` in Python, offline and with caches of its own. Rejects as Python fails. */
export async function loadDataset(folder: string, picks: number[] = []): Promise<LoadedDataset> {
  const cache = await mkdtemp(join(tmpdir(), 'talaria-hf-'));
  try {
    const { stdout } = await promisify(execFile)(
      PYTHON,
      ['-c', SCRIPT, folder, JSON.stringify(picks)],
      {
        maxBuffer: 256 * 1024 * 1024,
        env: {
          ...ENVIRONMENT,
          HF_HOME: cache,
          HF_DATASETS_CACHE: join(cache, 'datasets'),
          HF_HUB_OFFLINE: '1',
          HF_DATASETS_DISABLE_PROGRESS_BARS: '1',
        },
      },
    );
    return JSON.parse(stdout);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}
