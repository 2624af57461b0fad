import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const runtime: readonly NamedMutant[] = [
  {
    mutant: 'a failed step ends the loop',
    file: 'packages/runtime/src/loop.ts',
    find: 'if (!signal.aborted) onError(error);',
    replace: 'if (!signal.aborted) onError(error);\n      return;',
    tests: ['packages/runtime/src/loop.test.ts'],
  },
  {
    mutant: 'a changed file of a secret is not read again',
    file: 'packages/runtime/src/file-reading.ts',
    find: 'files.set(path, content);',
    replace: "if (path.endsWith('.yaml')) files.set(path, content);",
    tests: ['apps/ingress/src/news.db.test.ts'],
  },
  {
    mutant: 'a second signal does not end a service that hangs',
    file: 'packages/runtime/src/run.ts',
    find: 'if (stop.signal.aborted) process.exit(1);',
    replace: '',
    tests: ['packages/runtime/src/run.test.ts'],
  },
  {
    mutant: 'a setting for one service has the name of another',
    file: 'apps/scheduler/src/config.ts',
    find: "'PADDOCK_SCHEDULER_POOL_SIZE'",
    replace: "'PADDOCK_RECONCILER_POOL_SIZE'",
    tests: ['test/src/repository.test.ts'],
  },
  {
    mutant: 'an unknown rule is passed over',
    file: 'packages/runtime/src/rules.ts',
    find: ': z.strictObject(\n        Object',
    replace: ': z.looseObject(\n        Object',
    tests: ['packages/runtime/src/rules.test.ts'],
  },
  {
    mutant: 'a service that obeys other rules does not say so',
    file: 'packages/runtime/src/rules.ts',
    find: "if (rules !== '')",
    replace: 'if (false)',
    tests: ['packages/runtime/src/rules.test.ts'],
  },
];
