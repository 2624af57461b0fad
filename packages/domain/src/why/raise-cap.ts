import type { PassPlan } from '../matching/plan-pass.ts';
import type { Snapshot } from '../matching/snapshot.ts';
import type { StoredRules } from '../matching/stored-rules.ts';
import { ruleAmong } from '../pools/entities.ts';
import type { CapFacts, JobFacts, HeldWorkerFacts } from './wait-facts.ts';
import { commonAmong, entityRuleOf, type MatchingRules } from '../matching/matching-rules.ts';
import type { LiveWorkers } from '../matching/share-room.ts';

type Place = Pick<JobFacts, 'entityId' | 'login' | 'pool'>;

/** The rules with another limit in a cap that binds a job's workers. */
export function withLimit(
  rules: StoredRules,
  kind: CapFacts['kind'],
  place: Place,
  limit: number,
): StoredRules {
  const { entities, pools } = rules;
  switch (kind) {
    case 'at_entity_cap': {
      const entry = entryOf(rules, place);
      return {
        ...rules,
        entities: { ...entities, [entry]: { ...entities[entry], maxWorkers: limit } },
      };
    }
    case 'at_common_cap':
      return {
        ...rules,
        entities: { ...entities, '*': { ...entities['*'], commonMaxWorkers: limit } },
      };
    case 'at_pool_cap':
    case 'at_repository_cap': {
      const cap = kind === 'at_pool_cap' ? { cap: limit } : { repositoryCap: limit };
      return {
        ...rules,
        pools: pools.map((pool) => Object.assign({}, pool, pool.name === place.pool ? cap : {})),
      };
    }
    default:
      return kind satisfies never;
  }
}

/** What a person changes in the configuration to raise a cap. */
export function settingOf(rules: StoredRules, { kind, name }: CapFacts, place: Place): string {
  return kind === 'at_entity_cap' && entryOf(rules, place) === '*' ? "maxWorkers of '*'" : name;
}

/** The key of `entities`, as it is written, that admits the entity. */
function entryOf({ entities }: StoredRules, { entityId: id, login }: Place): string {
  const written = new Map(Object.keys(entities).map((key) => [key.toLowerCase(), key]));
  return ruleAmong(written, { id, login }) ?? login;
}

/** How many workers without a job a key has after a pass; 0 for a key that the pass leaves alone. */
export function workersAfter(
  { demand, reservations, returnable }: Snapshot,
  { make, takeBack, giveBack }: PassPlan,
  demandKey: number,
): number {
  const isOfKey = (one: { readonly demandKey: number }): boolean => one.demandKey === demandKey;
  const unassigned = demand.find(isOfKey)?.unassigned ?? 0;
  const made = make.find(isOfKey)?.count ?? 0;
  const named = (
    names: readonly string[],
    among: readonly { podName: string; demandKey: number }[],
  ) => among.filter((one) => isOfKey(one) && names.includes(one.podName)).length;
  const gone = reservations.filter(({ stopping }) => !stopping);
  return unassigned + made + named(takeBack, returnable) - named(giveBack, gone);
}

/**
 * The smallest raise that is enough, between `least` and `most`, found by doubling and halving.
 * Assumes that a larger raise is enough too: else the answer is enough, and maybe not the smallest.
 * Undefined: none up to `most` is enough.
 */
export async function smallestRaise(
  { least, most }: { least: number; most: number },
  isEnough: (raise: number) => Promise<boolean>,
): Promise<number | undefined> {
  let lowest = least;
  let enough = least;
  while (!(await isEnough(enough))) {
    if (enough >= most) return undefined;
    lowest = enough + 1;
    enough = Math.min(2 * enough, most);
  }
  while (lowest < enough) {
    const middle = Math.floor((lowest + enough) / 2);
    if (await isEnough(middle)) enough = middle;
    else lowest = middle + 1;
  }
  return enough;
}

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
