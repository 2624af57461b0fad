import type { MutantOfRow } from '../tools/mutants/named-mutant.ts';

/** Changes that rows of the fault matrix which hit one must notice. */
export const oneHit: readonly MutantOfRow[] = [
  {
    mutant: 'one key that fails holds back all others',
    file: 'packages/domain/src/matching/matching-rules.ts',
    find: 'failing.get(demandKey) ?? NO_LIMIT',
    replace: 'failing.get(demandKey) ?? [...failing.values()].at(0) ?? NO_LIMIT',
    row: 'registrations-of-one-fail',
    jobs: 12,
  },
  {
    mutant: 'a service is away once a call has failed, although it answers the probe',
    file: 'packages/runtime/src/reach.ts',
    find: 'note(isLate ? `no answer within ${LIMIT_MS} ms` : message);',
    replace: "note(isLate ? 'late' : (message ?? 'a call has failed'));",
    row: 'webhook-unavailable',
    jobs: 12,
  },
  {
    mutant: 'a failed call of GitHub is nobody’s failure, although GitHub answers the probe',
    file: 'apps/scheduler/src/if-away.ts',
    find: 'isUnansweredByGitHub(failure) && (await github.report())',
    replace: 'isUnansweredByGitHub(failure) && ((await github.report()) || true)',
    row: 'installation-fails',
    jobs: 12,
  },
  {
    mutant: 'an entity is held back because GitHub hides one of its repositories',
    file: 'packages/domain/src/entities/refused-subject.ts',
    find: "return kind !== 'unauthorized' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';",
    replace:
      "return kind === 'forbidden' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';",
    row: 'repository-hidden',
    jobs: 12,
  },
  {
    mutant: 'a stop reads the newest runs that wait again and again',
    file: 'apps/scheduler/src/stopping/read-evidence.ts',
    find: '  await noteRunsRead(db, podName, last.runId);\n',
    replace: '',
    row: 'dead-workers-before-many-runs',
    jobs: 12,
  },
];
