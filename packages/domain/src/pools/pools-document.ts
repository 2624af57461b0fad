import { z } from 'zod';
import { loginAmong, type NamedEntity, ruleAmong, USUAL_MAX_WORKERS } from './entities.ts';
import { loginThrough } from './gate.ts';
import { normaliseLabels } from '../text/storable.ts';
import { byPreference } from './labels.ts';
import { count, pool, type Pool } from './pool.ts';
import { checkedTogether } from './check-together.ts';

const weight = z.number().min(0.01, 'must be at least 0.01').max(1_000);

const rule = z.strictObject({
  maxWorkers: count
    .nullable()
    .default(USUAL_MAX_WORKERS)
    .describe('Most workers of the entity at one time; null: no limit, 0: switched off.'),
  weight: weight
    .default(1)
    .describe('Its share of a pool that is full, against those of other entities.'),
  commonMaxWorkers: count
    .optional()
    .describe(
      "Only under '*': most workers of all entities that it alone admits, together; no limit without it.",
    ),
  commonWeight: weight
    .optional()
    .describe(
      "Only under '*': all entities that it alone admits share a full pool like one of this weight; 1 without it.",
    ),
});

export const poolsSections = {
  pools: z.array(pool).describe('Classes of workers.'),
  entities: z
    .record(z.string().min(1), rule)
    .describe(
      "Who may use them: by login, without regard to case, or by the entity's id as id:123; '*' means all others and must be written out.",
    ),
};

export const poolsDocument = checkedTogether(z.strictObject(poolsSections));

export type PoolsDocument = z.infer<typeof poolsDocument>;

/** An entity's rule in the configuration, by id before login. Undefined: it may not use Paddock. */
export function entityRule(
  document: PoolsDocument,
  entity: NamedEntity,
): PoolsDocument['entities'][string] | undefined {
  return ruleAmong(
    new Map(Object.entries(document.entities).map(([key, given]) => [key.toLowerCase(), given])),
    entity,
  );
}

/** The login, in lower case, by which an entity may use a pool, unless by id or a pattern. */
export function admittingLogin(
  { entities, pools }: PoolsDocument,
  entity: NamedEntity,
  place: { readonly pool: string },
): string | undefined {
  const listed = loginAmong(new Set(Object.keys(entities).map((key) => key.toLowerCase())), entity);
  return listed ?? loginThrough(pools.find(({ name }) => name === place.pool) ?? {}, entity);
}

export interface NearestPool {
  readonly pool: string;
  /** Empty: it has all of them. */
  readonly missing: readonly string[];
}

/** On a tie, the pool that would come first if it had all labels. Undefined: there is no pool. */
export function nearestPool(
  pools: readonly Pool[],
  jobLabels: readonly string[],
): NearestPool | undefined {
  const wanted = normaliseLabels(jobLabels);
  const [nearest] = pools
    .map((one) => ({ pool: one, missing: wanted.filter((label) => !one.labels.includes(label)) }))
    .toSorted((a, b) => a.missing.length - b.missing.length || byPreference(a.pool, b.pool));
  return nearest && { pool: nearest.pool.name, missing: nearest.missing };
}
