/** Two projects: `unit` needs nothing; `integration` shares one Temporal dev server that global-setup starts. */
const common = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

module.exports = {
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{contract,model,payloads,queue,activities,store,api,worker,temporal-dev,cli,testing}/**/*.test.ts',
        '<rootDir>/*.test.ts',
        '<rootDir>/test/{model,conformance/store}/**/*.test.ts',
      ],
    },
  ],
};
