import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Whether a shell can be the lasting one: bash 5 or newer, which `wait -f` came with. */
export async function canLast(shell: string): Promise<boolean> {
  const ask = ['-c', 'echo "$BASH_VERSINFO"'];
  const asked = await promisify(execFile)(shell, ask, { env: {} }).catch(() => undefined);
  return Number(asked?.stdout.trim()) >= 5;
}
