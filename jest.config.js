/** Two projects: `unit` needs nothing; `integration` shares one Temporal dev server that global-setup starts. */
const common = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

module.exports = {
  maxWorkers: 2,
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '/dist/',
        '\\.integration\\.test\\.ts$',
        '<rootDir>/test/(conformance/queue|integration|chaos)/',
      ],
    },
    {
      ...common,
      displayName: 'integration',
      testMatch: [
        '<rootDir>/**/*.integration.test.ts',
        '<rootDir>/test/{conformance/queue,integration,chaos}/**/*.test.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', '/dist/'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
