import { defineConfig } from 'vitest/config';

const project = (
  name: string,
  testTimeout = 5_000,
  of: { isolate?: boolean; retry?: number } = {},
) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, ...of },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      // Modules are shared: the CDK's take longer to load than most of its tests to run.
      project('infra', 120_000, { isolate: false }),
      // Real containers and processes on a machine that others use too: the report shows what was
      // tried again.
      project('contract', 30_000, { retry: 1 }),
      project('integration', 60_000, { retry: 1 }),
    ],
  },
});
