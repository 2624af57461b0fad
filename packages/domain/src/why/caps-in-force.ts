import { commonAmong, entityRuleOf, type MatchingRules } from '../matching/matching-rules.ts';
import type { LiveWorkers } from '../matching/share-room.ts';
import type { CapFacts, HeldWorkerFacts, JobFacts } from './wait-facts.ts';

/** The caps that bind workers for a job, and how much of each is used by the workers that live. */
export function capsInForce(
  job: Pick<JobFacts, 'entityId' | 'login' | 'pool' | 'scopeRepoId' | 'repoFullName'>,
  rules: MatchingRules,
  live: readonly LiveWorkers[],
  held: readonly HeldWorkerFacts[],
): CapFacts[] {
  const { entityId, login, scopeRepoId } = job;
  const pool = rules.pools.get(job.pool);
  const common = commonAmong(rules, [{ entityId, login }], live);
  type Where = Pick<LiveWorkers, 'entityId' | 'pool' | 'scopeRepoId'>;
  const places = (isOf: (place: Where) => boolean) => ({
    used: live.reduce((sum, workers) => sum + (isOf(workers) ? workers.alive : 0), 0),
    held: held.filter(isOf),
  });
  const caps = [
    {
      kind: 'at_entity_cap',
      name: `maxWorkers of ${login}`,
      ...places((one) => one.entityId === entityId),
      limit: entityRuleOf(rules, job)?.cap,
    },
    {
      kind: 'at_common_cap',
      name: "commonMaxWorkers of '*'",
      ...places((one) => common.has(one.entityId)),
      limit: common.has(entityId) ? rules.common?.cap : null,
    },
    {
      kind: 'at_pool_cap',
      name: `maxWorkers of the pool ${job.pool}`,
      ...places((one) => one.pool === job.pool),
      limit: pool?.cap,
    },
    {
      kind: 'at_repository_cap',
      name: `maxWorkersPerRepository of the pool ${job.pool} for ${job.repoFullName}`,
      ...places(
        (one) =>
          one.entityId === entityId && one.scopeRepoId === scopeRepoId && one.pool === job.pool,
      ),
      limit: scopeRepoId === 0 ? null : pool?.repositoryCap,
    },
  ] as const;
  return caps.flatMap(({ limit, ...cap }) =>
    limit === null || limit === undefined ? [] : [{ ...cap, limit }],
  );
}
