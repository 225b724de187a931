import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Entries of one folder looked at; more are left out. */
const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 100;

export interface WalkedFile {
  real: string;
  /** Relative to the walk's folder. */
  relativePath: string;
}

export interface WalkReport {
  /** Set where a folder was too large or too deep to be seen whole. */
  isIncomplete: boolean;
}

/**
 * Regular files below a folder, in the order of their paths. Like ripgrep it leaves out hidden
 * files and folders (`.git`, `.venv`) and never follows symlinks; unlike it, it knows no ignore
 * files. A folder that can't be read is left out.
 */
export async function* walkFiles(
  folder: string,
  report: WalkReport,
  prefix = '',
  depth = 0,
): AsyncGenerator<WalkedFile> {
  for (const { name, isFolder } of await entriesInOrder(folder, report)) {
    const real = join(folder, name);
    const relativePath = `${prefix}${name}`;
    if (!isFolder) yield { real, relativePath };
    else if (depth < MAX_DEPTH) yield* walkFiles(real, report, `${relativePath}/`, depth + 1);
    else report.isIncomplete = true;
  }
}

interface Entry {
  name: string;
  isFolder: boolean;
}

async function entriesInOrder(folder: string, report: WalkReport): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (entry.name.startsWith('.') || !(entry.isFile() || entry.isDirectory())) continue;
      if (entries.length === MAX_ENTRIES) {
        report.isIncomplete = true;
        break;
      }
      entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    }
  } catch {
    report.isIncomplete = true;
  }
  // A folder's files sort by its name and the slash, as whole paths do.
  const key = (entry: Entry) => (entry.isFolder ? `${entry.name}/` : entry.name);
  return entries.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
