import { type Sandbox, SandboxFileError } from '../../ports/sandbox.ts';

/** Why something that is there can't be read. */
const THERE: ReadonlySet<SandboxFileError['code']> = new Set([
  'is_directory',
  'not_a_file',
  'permission',
]);

/** Whether anything is at a path. Throws `SandboxFileError` for one outside the sandbox or that can't be one. */
export async function isThere(path: string, sandbox: Sandbox): Promise<boolean> {
  try {
    await sandbox.readFile(path, 0);
    return true;
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error;
    if (error.code === 'not_found') return false;
    if (THERE.has(error.code)) return true;
    throw error;
  }
}
