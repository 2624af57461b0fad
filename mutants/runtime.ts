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
    mutant: 'a second signal does not end a service that hangs',
    file: 'packages/runtime/src/run.ts',
    find: 'if (stop.signal.aborted) process.exit(1);',
    replace: '',
    tests: ['packages/runtime/src/run.test.ts'],
  },
];
