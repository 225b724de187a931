import { afterAll, beforeAll, describe } from 'vitest';
import type { SandboxProvider } from '../../../src/core/ports/sandbox.ts';
import { describeCommands } from './commands-contract.ts';
import { describeEnds } from './ends-contract.ts';
import { describeFiles } from './files-contract.ts';
import type { OpenSandbox } from './open-sandbox.ts';
import { describeOutput } from './output-contract.ts';
import { describeProcesses } from './processes-contract.ts';
import { describePty } from './pty-contract.ts';
import { describeSearch } from './search-contract.ts';

export interface ContractProvider {
  provider: SandboxProvider;
  dispose(): Promise<void>;
}

/** What every kind of sandbox promises, run against a real one. */
export function describeSandbox(name: string, makeProvider: () => Promise<ContractProvider>): void {
  describe(`sandbox: ${name}`, () => {
    let made: ContractProvider;
    let count = 0;
    beforeAll(async () => {
      made = await makeProvider();
      // Of a runtime that has to be built first.
    }, 120_000);
    afterAll(async () => {
      await made.dispose();
    });
    const open: OpenSandbox = (cwd = '') => {
      count += 1;
      return made.provider.open({ promptId: `prompt-${count}`, image: '', cwd });
    };

    describeCommands(open);
    describeOutput(open);
    describeEnds(open);
    describeProcesses(open);
    describePty(open);
    describeFiles(open);
    describeSearch(open);
  });
}
