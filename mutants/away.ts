import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const away: readonly NamedMutant[] = [
  {
    mutant: 'a probe that began before the call failed speaks for the call',
    file: 'packages/runtime/src/reach.ts',
    find: `    coming = undefined;
    nextAt`,
    replace: `    queueMicrotask(() => setImmediate(() => (coming = undefined)));
    nextAt`,
    tests: ['packages/runtime/src/reach.test.ts'],
  },
  {
    mutant: 'failed calls cause more than one probe a second',
    file: 'packages/runtime/src/reach.ts',
    find: `nextAt = now() + EVERY_MS;`,
    replace: `nextAt = now() + 0 * EVERY_MS;`,
    tests: ['packages/runtime/src/reach.test.ts'],
  },
  {
    mutant: 'others hear of an outage only if PostgreSQL is there at its beginning',
    file: 'packages/runtime/src/reach.ts',
    find: `    await share(message);
    sharedFor = message;`,
    replace: `    sharedFor = message;
    await share(message);`,
    tests: ['packages/runtime/src/reach.test.ts'],
  },
  {
    mutant: 'a proxy that wants a password counts as an answer',
    file: 'packages/runtime/src/reach.ts',
    find: ` && status !== 407;`,
    replace: `;`,
    tests: ['packages/runtime/src/reach.test.ts', 'packages/github/src/signature.test.ts'],
  },
  {
    mutant: 'an API server that is busy or does not know us counts as there',
    file: 'packages/kube/src/errors.ts',
    find: `!isAnswer(status) || status === 401 || status === 429;`,
    replace: `!isAnswer(status);`,
    tests: ['apps/scheduler/src/provisioning/refused-pods.db.test.ts'],
  },
  {
    mutant: 'a failed creation makes an outage although the probe is answered',
    file: 'apps/scheduler/src/if-away.ts',
    find: `isUnansweredByCluster(failure) && (await cluster.report())`,
    replace: `isUnansweredByCluster(failure) && ((await cluster.report()) || true)`,
    tests: ['apps/scheduler/src/provisioning/refused-pods.db.test.ts'],
  },
  {
    mutant: 'tasks run in vain while what they need is away',
    file: 'packages/queue/src/executor.ts',
    find: ` && !kinds[kind]?.needs?.some(isAway)`,
    replace: ``,
    tests: ['packages/queue/src/executor.db.test.ts'],
  },
  {
    mutant: 'the row of a process that died in an outage holds back all for ever',
    file: 'packages/db/src/outages.ts',
    find: `    await noteBack(db, row);`,
    replace: `    void noteBack;`,
    tests: ['packages/db/src/outages.db.test.ts'],
  },
  {
    mutant: 'workers are made while GitHub is away',
    file: 'packages/domain/src/matching/caps.ts',
    find: `blockedBy(rules, key) ?? rules.away ?? budgetBlock(key, rules)`,
    replace: `blockedBy(rules, key) ?? budgetBlock(key, rules)`,
    tests: ['packages/domain/src/matching/plan-workers.test.ts'],
  },
  {
    mutant: 'nobody asks whether an outage that a dead process has noted is over',
    file: 'apps/scheduler/src/matching/match-loop.ts',
    find: 'await confirmOutages(db, reach, matched.away);',
    replace: '',
    tests: ['apps/scheduler/src/away.db.test.ts'],
  },
];
