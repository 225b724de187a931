import { defineConfig } from 'vitest/config';

const project = (name: string, testTimeout = 5_000) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('infra', 120_000),
      project('contract', 30_000),
      project('integration', 60_000),
    ],
  },
});
