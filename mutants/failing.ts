import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

const KEYS = ['packages/db/src/workers/failing-keys.db.test.ts'];

/** Promises about demand keys whose workers fail before they have a job. */
export const failing: readonly NamedMutant[] = [
  {
    mutant: 'a key that fails in one pool fails in all pools and for all entities',
    file: 'packages/db/src/matching/stored-rules.ts',
    find: `from demand_keys k where pauses > 0
    ),`,
    replace: `from (select k.demand_key, k.entity_id, k.k8s_pool, f.failure_class, f.paused_until, f.failing_since
        from demand_keys k cross join demand_keys f where f.pauses > 0) k
    ),`,
    tests: ['apps/scheduler/src/failing-classes.attack.test.ts'],
  },
  {
    mutant: 'the first failure of a key pauses it',
    file: 'packages/domain/src/matching/failure-classes.ts',
    find: `  strikes: 3,`,
    replace: `  strikes: 1,`,
    tests: KEYS,
  },
  {
    mutant: 'a registration that GitHub refuses is no failure of its key',
    file: 'apps/scheduler/src/provisioning/after-github-failure.ts',
    find: 'return GITHUB_REFUSED;',
    replace: 'return undefined;',
    tests: ['apps/scheduler/src/provisioning/refused-registration.db.test.ts'],
  },
  {
    mutant: 'news of an installation leave its keys with the registrations that were refused',
    file: 'db/migrations/0001_schema.sql',
    find: "where failures > 0 and failure_class = 'github_refused' and (entity_id = of_entity or",
    replace: "where failures > 0 and failure_class = 'github_refused' and (false or",
    tests: ['apps/scheduler/src/provisioning/refused-registration.db.test.ts'],
  },
  {
    mutant: 'a pod that waits for a node is the trial of a key whose pods were refused',
    file: 'packages/db/src/matching/stored-rules.ts',
    find: `'pod_created', count(pod_uid)`,
    replace: `'pod_created', count(running_at)`,
    tests: ['apps/scheduler/src/matching/match-failing.db.test.ts'],
  },
  {
    mutant: 'a failure within a pause prolongs it',
    file: 'packages/db/src/workers/failing-keys.ts',
    find: `where coalesce(k.paused_until <= now(), true) and`,
    replace: `where`,
    tests: KEYS,
  },
  {
    mutant: 'a moment’s outage counts once for each worker that it met',
    file: 'packages/db/src/workers/failing-keys.ts',
    find: ' and (not ${isShared}::boolean or coalesce(excluded.failing_since > k.failed_at, true))',
    replace: ' and ${isShared}::boolean is not null',
    tests: KEYS,
  },
  {
    mutant: 'a worker that had a job counts a failure of its key',
    file: 'packages/db/src/workers/failing-keys.ts',
    find: 'where pod_name = ${podName} and assigned_at is null for share',
    replace: 'where pod_name = ${podName} for share',
    tests: KEYS,
  },
  {
    mutant: 'a created pod proves that pods start',
    file: 'packages/domain/src/matching/failure-classes.ts',
    find: `PROOFS.slice(0, PROOFS.indexOf(proof) + 1)`,
    replace: `PROOFS.slice(0, PROOFS.indexOf(proof) + 2)`,
    tests: KEYS,
  },
  {
    mutant: 'a start that began before the last failure proves that it is over',
    file: 'packages/db/src/workers/failing-keys.ts',
    find: `w.registered_at > k.failed_at or`,
    replace: `true or`,
    tests: KEYS,
  },
  {
    mutant: 'workers made together count against their key one by one',
    file: 'packages/db/src/workers/failing-keys.ts',
    find: `      where k.failed_at is null or b.made_at >= k.failed_at\n`,
    replace: ``,
    tests: ['apps/scheduler/src/matching/match-failing.db.test.ts'],
  },
  {
    mutant: 'a key whose pause is over gets workers for all its jobs at once',
    file: 'packages/domain/src/matching/caps.ts',
    find: `      ...[failingLimit(rules, key), suspicionLimit(rules, key)].map(`,
    replace: `      ...[suspicionLimit(rules, key)].map(`,
    tests: ['apps/scheduler/src/matching/match-failing.db.test.ts'],
  },
  {
    mutant: 'reservations of a key that pauses are kept',
    file: 'packages/domain/src/matching/pick-unwanted.ts',
    find: `      isBeyond(supply, failingLimit(rules, worker).room) ||\n`,
    replace: ``,
    tests: ['apps/scheduler/src/matching/match-failing.db.test.ts'],
  },
];
