// Runs Stryker in the current folder, a scratch copy of the checkout. Changes its files, and leaves
// the report in mutation.json.
import { Stryker } from '@stryker-mutator/core';

await new Stryker({
  mutate: ['packages/domain/src/**/*.ts', '!**/*.{test,scene}.ts'],
  inPlace: true,
  disableTypeChecks: false,
  plugins: ['./tools/mutants/domain/test-runner.ts'],
  testRunner: 'domain',
  coverageAnalysis: 'perTest',
  concurrency: 2,
  maxTestRunnerReuse: 200, // loaded modules stay in the memory of a process
  timeoutMS: 20_000, // for a busy machine; endless loops are found by counting
  reporters: ['json'],
  jsonReporter: { fileName: 'mutation.json' },
}).runMutationTest();
