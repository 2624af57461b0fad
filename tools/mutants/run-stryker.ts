// Runs Stryker on packages/domain in the current folder, a scratch copy of the checkout, and changes
// its files. Prints the changes that no test notices, and fails below the score that must hold.
import { Stryker } from '@stryker-mutator/core';

await new Stryker({
  mutate: ['packages/domain/src/**/*.ts', '!**/*.{test,scene}.ts'],
  inPlace: true,
  disableTypeChecks: false,
  plugins: [import.meta.resolve('@stryker-mutator/jest-runner')],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules'],
  jest: {
    projectType: 'custom',
    config: {
      projects: [], // jest.config.mjs is read too
      testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '\\.ts$': '<rootDir>/tools/jest-transform.mjs' },
      testMatch: ['<rootDir>/packages/domain/src/**/*.test.ts'],
    },
  },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  maxTestRunnerReuse: 100, // loaded modules stay in the memory of a process
  timeoutMS: 20_000, // for a busy machine; endless loops are found by counting
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 }, // in percent of the mutants
}).runMutationTest();
