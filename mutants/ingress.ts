import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** What the webhook promises whoever sends to it. */
export const ingress: readonly NamedMutant[] = [
  {
    mutant: 'the whole payload of an ignored job cannot be asked for',
    file: 'apps/ingress/src/main.ts',
    find: "config.ignoredJobPayload === 'reduced'",
    replace: 'true',
    tests: ['apps/ingress/src/service.db.test.ts'],
  },
  {
    mutant: 'ignored jobs are stored whole unless told otherwise',
    file: 'apps/ingress/src/config.ts',
    find: "of: ['reduced', 'full'],\n    default: 'reduced',",
    replace: "of: ['reduced', 'full'],\n    default: 'full',",
    tests: ['apps/ingress/src/service.db.test.ts'],
  },
];
