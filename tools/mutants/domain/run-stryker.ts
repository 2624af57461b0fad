// Runs Stryker in the scratch copy of the checkout that it is begun in, whose files it changes;
// leaves its report in mutation.json.
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
  timeoutMS: 20_000, // for a busy machine; what loops without end is found by counting
  reporters: ['json'],
  jsonReporter: { fileName: 'mutation.json' },
}).runMutationTest();
