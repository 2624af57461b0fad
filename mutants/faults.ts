import type { MutantOfRow } from '../tools/mutants/named-mutant.ts';

/** Changes that rows of the fault matrix must notice. */
export const faults: readonly MutantOfRow[] = [
  {
    mutant: 'no pool has a cap',
    file: 'packages/domain/src/matching/caps.ts',
    find: 'room: left(rules.pools.get(pool)?.cap, ofPool.get(pool)),',
    replace: 'room: Infinity,',
    row: 'none',
    jobs: 12,
  },
  {
    mutant: 'discovery looks through no repository',
    file: 'apps/reconciler/src/jobs/discover-jobs.ts',
    find: 'await walk(await findDueRepositories(db, { most, activeMs, appIds }), {',
    replace:
      'await walk((await findDueRepositories(db, { most, activeMs, appIds })).slice(0, 0), {',
    row: 'events-never-sent',
    jobs: 12,
  },
  {
    mutant: 'a delivery that our endpoint never saw is not asked for again',
    file: 'apps/reconciler/src/redelivery/delivery-log.ts',
    find: '[...Map.groupBy(repeated, ({ guid }) => guid).values()].map(judge)',
    replace:
      '[...Map.groupBy(repeated, ({ guid }) => guid).values()].filter((all) => !all.every(({ statusCode }) => statusCode === 502)).map(judge)',
    row: 'deliveries-lost',
    jobs: 12,
  },
  {
    mutant: 'a delivery that comes late takes back the end of its job',
    file: 'packages/domain/src/jobs/merge-statement.ts',
    find: 'hasEnded || RANK[facts.status] < RANK[row.status] ? row.status : facts.status',
    replace: 'facts.status',
    row: 'deliveries-doubled-and-shuffled',
    jobs: 12,
  },
  {
    mutant: 'the beginning of a job is not asked for again',
    file: 'apps/reconciler/src/redelivery/delivery-log.ts',
    find: 'attempts.filter(({ event }) => REPEATED_EVENTS.has(event))',
    replace:
      "attempts.filter(({ event, action }) => REPEATED_EVENTS.has(event) && action !== 'in_progress')",
    row: 'in-progress-lost',
    jobs: 12,
  },
  {
    mutant: 'the end of a job is not asked for again',
    file: 'apps/reconciler/src/redelivery/delivery-log.ts',
    find: 'attempts.filter(({ event }) => REPEATED_EVENTS.has(event))',
    replace: `attempts.filter(({ event, action }) => REPEATED_EVENTS.has(event) && action !== 'completed')`,
    row: 'completed-lost',
    jobs: 12,
  },
  {
    mutant: 'an ingress that has just started assumes no missed deliveries',
    file: 'apps/ingress/src/gaps.ts',
    find: `if (last === undefined) return 'start';`,
    replace: 'if (last === undefined) return undefined;',
    row: 'ingress-down',
    jobs: 12,
  },
  {
    mutant: 'a delivery that our endpoint refused is never asked for again',
    file: 'apps/reconciler/src/redelivery/delivery-log.ts',
    find: '[...Map.groupBy(repeated, ({ guid }) => guid).values()].map(judge)',
    replace:
      '[...Map.groupBy(repeated, ({ guid }) => guid).values()].filter((all) => !all.some(({ statusCode }) => statusCode >= 400 && statusCode < 500)).map(judge)',
    row: 'wrong-secret',
    jobs: 12,
  },
  {
    mutant: 'the wait that GitHub asks for is not stored for other callers',
    file: 'packages/github/src/waits.ts',
    find: '...(ofAll > 0 ? [{ ms: ofAll }] : []),',
    replace: '',
    row: 'github-refuses',
    jobs: 12,
  },
  {
    mutant: 'a call that GitHub never answers has no time limit',
    file: 'packages/github/src/bounded-fetch.ts',
    find: 'const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;',
    replace: 'const signal = init?.signal ?? (timeout.aborted ? timeout : null);',
    row: 'github-hangs',
    jobs: 12,
  },
  {
    mutant: 'an entity is held back because GitHub refuses one of its repositories',
    file: 'packages/domain/src/entities/refused-subject.ts',
    find: "return kind !== 'unauthorized' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';",
    replace:
      "return kind === 'not_found' && REPOSITORY_CALL.test(operation) ? 'repository' : 'entity';",
    row: 'repository-refuses',
    jobs: 12,
  },
  {
    mutant: 'a call that the API server never answers has no time limit',
    file: 'packages/kube/src/call.ts',
    find: 'const timer = setTimeout(() => limit.abort(), cluster.requestTimeoutMs);',
    replace: 'const timer = setTimeout(() => undefined, cluster.requestTimeoutMs);',
    row: 'api-server-hangs',
    jobs: 12,
  },
  {
    mutant: 'a delivery that could not be stored is answered with 200',
    file: 'apps/ingress/src/receive-delivery.ts',
    find: `return refuse(isUnavailable(error) ? 'database_unavailable' : 'internal', BUSY, about);`,
    replace: `return refuse(isUnavailable(error) ? 'database_unavailable' : 'internal', { ...BUSY, status: 200 }, about);`,
    row: 'postgres-restarts',
    jobs: 12,
  },
  {
    mutant:
      'a service that PostgreSQL does not answer calls itself ready until its statement is given up',
    file: 'packages/db/src/connection/wait-until-fit.ts',
    find: 'const reason = await Promise.race([asked, silence]);',
    replace: 'const reason = await asked;',
    row: 'postgres-goes-silent',
    jobs: 12,
  },
  {
    mutant: 'a connection that has gone silent is never closed',
    file: 'packages/db/src/connection/client.ts',
    find: 'timer: setTimeout(cut, ms)',
    replace: 'timer: setTimeout(() => undefined, ms)',
    row: 'postgres-goes-silent-and-another-answers',
    jobs: 12,
  },
  {
    mutant: 'no executor takes over a task of a dead one',
    file: 'packages/queue/src/claim-tasks.ts',
    find: 'sql`(tasks.locked_until < now() or',
    replace: 'sql`(false and tasks.locked_until < now() or',
    row: 'services-killed',
    jobs: 12,
  },
  {
    mutant:
      'neither its run nor its log is checked before a runner that GitHub calls idle is stopped',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `  switch (log) {
    case undefined:
      return { look: 'log' };`,
    replace: `  if (evidence.hadPod) return NOTHING;
  switch (log) {
    case undefined:
      return { look: 'log' };`,
    row: 'busy-lies',
    jobs: 12,
  },
  {
    mutant: 'its log is not checked before a runner that GitHub calls idle is stopped',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `    case undefined:
      return { look: 'log' };`,
    replace: `    case undefined:
      if (evidence.job === undefined) return { look: 'job' };
      return evidence.job === 'found' ? { runs: 'found' } : NOTHING;`,
    row: 'busy-lies-about-unheard-jobs',
    jobs: 12,
  },
  {
    mutant: 'a pool serves a job that has one label of the pool',
    file: 'packages/domain/src/pools/pools-document.ts',
    find: `return pools
    .filter((candidate) => wanted.every((label) => candidate.labels.includes(label)))
    .toSorted(byPreference);`,
    replace:
      'return pools.filter((candidate) => wanted.some((label) => candidate.labels.includes(label))).toSorted(byPreference);',
    row: 'two-environments',
    jobs: 12,
  },
  {
    mutant: 'failed workers count as supply',
    file: 'packages/db/src/matching/demand.ts',
    find: `where \${UNASSIGNED} group by demand_key`,
    replace: `where status in ('pending', 'running', 'failed') and assigned_at is null and stopping_at is null group by demand_key`,
    row: 'pods-fail',
    jobs: 12,
  },
  {
    mutant: 'a runner has no deadline to connect to GitHub',
    file: 'packages/domain/src/workers/judge-worker.ts',
    find: `if (!wasOnline) return isRegistrationDue ? 'not_registered' : undefined;`,
    replace: 'if (!wasOnline) return isRegistrationDue ? undefined : undefined;',
    row: 'runners-never-register',
    jobs: 12,
  },
  {
    mutant: 'a job that ended before it began keeps waiting',
    file: 'packages/domain/src/jobs/merge-statement.ts',
    find: "facts.status === 'pending' || isSameRun;",
    replace: "facts.status !== 'running' || isSameRun;",
    row: 'jobs-cancelled',
    jobs: 12,
  },
  {
    mutant: 'no entity has a cap',
    file: 'packages/domain/src/matching/caps.ts',
    find: "{ room: left(entityRule(entityId)?.cap, ofEntity.get(entityId)), reason: 'at_entity_cap' },",
    replace: "{ room: Infinity, reason: 'at_entity_cap' },",
    row: 'one-entity-first',
    jobs: 12,
  },
  // Its jobs are so long that more than the cap run at once.
  {
    mutant: 'no pool has a cap while everything fails',
    file: 'packages/domain/src/matching/caps.ts',
    find: 'room: left(rules.pools.get(pool)?.cap, ofPool.get(pool)),',
    replace: 'room: Infinity,',
    row: 'everything',
    jobs: 24,
  },
];
