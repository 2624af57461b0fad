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
    tests: ['apps/ingress/src/changed-secrets.db.test.ts'],
  },
  {
    mutant: 'a second signal does not end a service that hangs',
    file: 'packages/runtime/src/run.ts',
    find: 'if (stop.signal.aborted) process.exit(1);',
    replace: '',
    tests: ['packages/runtime/src/run.test.ts'],
  },
  {
    mutant: 'settings for tuning are listed among those for operators',
    file: 'packages/runtime/src/settings.ts',
    find: '{ ...setting, tuning: true }',
    replace: 'setting',
    tests: ['test/src/settings-table.test.ts'],
  },
  {
    mutant: 'the port of health means one thing in the scheduler, another in the reconciler',
    file: 'apps/scheduler/src/config.ts',
    find: "'PADDOCK_SCHEDULER_HTTP_PORT'",
    replace: "'PADDOCK_RECONCILER_HTTP_PORT'",
    tests: ['test/src/settings-table.test.ts'],
  },
];
