import { availableParallelism } from 'node:os';
import { createAppKey } from './packages/simulators/src/github/app-key.ts';

// An App's key for all tests of the run: to make one takes a tenth of a second.
process.env.PADDOCK_TEST_APP_KEY ??= JSON.stringify(createAppKey());

const project = (displayName, testMatch, extra = {}) => ({
  displayName,
  testEnvironment: '<rootDir>/tools/jest-environment.mjs',
  runtime: '<rootDir>/tools/jest-runtime.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tools/jest-transform.mjs' },
  testMatch,
  testPathIgnorePatterns: ['/node_modules/'],
  modulePathIgnorePatterns: ['/dist/'],
  ...extra,
});

/** PostgreSQL, which all projects that name it share. */
const withDatabase = {
  globalSetup: '<rootDir>/tools/jest-setup.mjs',
  globalTeardown: '<rootDir>/tools/jest-teardown.mjs',
};

export default {
  // Many tests mostly wait for processes and databases: two cores are enough for six files.
  maxWorkers: Math.max(6, availableParallelism() - 1),
  testSequencer: '<rootDir>/tools/jest-sequencer.mjs',
  projects: [
    project('unit', [
      '<rootDir>/{apps/*,packages/*,test}/src/**/!(*.db|*.attack|*.contract|*.e2e).test.ts',
    ]),
    project('contract', ['<rootDir>/{apps/*,packages/*,test}/src/**/*.contract.test.ts']),
    project('database', ['<rootDir>/{apps/*,packages/*,test}/src/**/*.db.test.ts'], withDatabase),
    // What somebody would try who writes a workflow, installs the App or reaches the webhook.
    project(
      'attacks',
      ['<rootDir>/{apps/*,packages/*,test}/src/**/*.attack.test.ts'],
      withDatabase,
    ),
    // Whole systems: killed, upgraded, restored, watched in a browser.
    project('e2e', ['<rootDir>/{apps/*,packages/*,test}/src/**/*.e2e.test.ts'], withDatabase),
  ],
  // Tests wait for facts: this is a net for a hung test on a busy machine, not an expectation.
  // Longer than anything in a test is waited for.
  testTimeout: 300_000,
  reporters: ['default', '<rootDir>/tools/jest-closing-line.mjs'],
  coverageProvider: 'v8',
  workerIdleMemoryLimit: '1GB', // the ES modules of finished test files stay in a worker's memory
  collectCoverageFrom: ['{apps,packages}/*/src/**/*.ts'],
};
