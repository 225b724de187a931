import type { Sandbox } from '../../../src/core/ports/sandbox.ts';

/** Opens a fresh sandbox with a starting folder; closed with the suite. */
export type OpenSandbox = (cwd?: string) => Promise<Sandbox>;
