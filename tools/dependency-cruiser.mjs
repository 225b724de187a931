/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-is-pure',
      severity: 'error',
      comment: 'core may use zod and itself; nothing else',
      from: { path: '^src/core/' },
      to: { pathNot: ['^src/core/', 'node_modules/zod/'] },
    },
    {
      name: 'aws-sdk-only-in-aws-adapters',
      severity: 'error',
      from: {
        pathNot: [
          '^src/adapters/aws/',
          '^functions/[^/]+/handler\\.ts$',
          '^containers/[^/]+/main\\.ts$',
          '^src/cli/wiring\\.ts$',
          '^test/',
          '^bench/',
        ],
      },
      to: { path: 'node_modules/@aws-sdk/' },
    },
    {
      name: 'adapters-are-islands',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'infra-sees-only-env-contracts',
      severity: 'error',
      from: { path: '^infra/' },
      to: { path: '^(src|functions|containers)/', pathNot: '/env\\.ts$' },
    },
    {
      name: 'entrypoints-are-leaves',
      severity: 'error',
      from: { path: '^(src|infra)/' },
      to: { path: '^(functions|containers)/', pathNot: '/env\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
