import { defineConfig } from 'vitest/config';

const project = (name: string, testTimeout = 5_000, isolate = true) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, isolate },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      // Modules are shared: the CDK's take longer to load than most of its tests to run.
      project('infra', 120_000, false),
      project('contract', 30_000),
      project('integration', 60_000),
    ],
  },
});
