import { z } from 'zod';
import { loginAmong, type NamedEntity, ruleAmong, USUAL_MAX_WORKERS } from './entities.ts';
import { loginThrough } from './gate.ts';
import { normaliseLabels } from './labels.ts';
import { count, pool, type Pool } from './pool.ts';
import { checkedTogether } from './check-together.ts';

const weight = z.number().min(0.01, 'must be at least 0.01').max(1_000);

const rule = z.strictObject({
  maxWorkers: count
    .nullable()
    .default(USUAL_MAX_WORKERS)
    .describe('Most workers of the entity at one time; null: no limit, 0: switched off.'),
  weight: weight.default(1).describe('Its share of a pool that is full, against those of other entities.'),
  commonMaxWorkers: count
    .optional()
    .describe("Only under '*': most workers of all entities that it alone admits, together; no limit without it."),
  commonWeight: weight
    .optional()
    .describe("Only under '*': all entities that it alone admits share a full pool like one of this weight; 1 without it."),
});

/** The sections of the configuration file that are kept in the database. */
export const poolsSections = {
  pools: z.array(pool).describe('Classes of workers.'),
  entities: z
    .record(z.string().min(1), rule)
    .describe(
      "Who may use them: by login, without regard to case, or by the entity's id as id:123; '*' stands for everybody else and must be written out.",
    ),
};

/**
 * The pools and who may use them, as loaded from the configuration file and kept in the database.
 */
export const poolsDocument = checkedTogether(z.strictObject(poolsSections));

export type PoolsDocument = z.infer<typeof poolsDocument>;

/**
 * The pool that serves most jobs with these labels; those whose repository or entity it does not
 * serve go to the next (B4).
 */
export const poolFor = (pools: readonly Pool[], jobLabels: readonly string[]): Pool | undefined => poolsFor(pools, jobLabels)[0];

/**
 * The pools whose labels fit a job: all of its own are in the pool's set, compared without case.
 * First the one with the fewest labels, then the highest priority, then the first name. A job
 * without labels fits none (B4).
 */
export function poolsFor(pools: readonly Pool[], jobLabels: readonly string[]): Pool[] {
  const wanted = normaliseLabels(jobLabels);
  if (wanted.length === 0) return [];
  return pools.filter((candidate) => wanted.every((label) => candidate.labels.includes(label))).toSorted(byPreference);
}

/**
 * The largest label sets that fit several pools, with the names of these pools, the one that serves
 * such jobs first.
 */
export function sharedLabels(pools: readonly Pool[]): { labels: readonly string[]; pools: readonly string[] }[] {
  const sets = pools.flatMap((one, index) =>
    pools.slice(index + 1).map((other) => one.labels.filter((label) => other.labels.includes(label))),
  );
  const byKey = new Map(sets.filter((labels) => labels.length > 0).map((labels) => [labels.join('\n'), labels]));
  return [...byKey.values()].map((labels) => ({ labels, pools: poolsFor(pools, labels).map(({ name }) => name) }));
}

const byPreference = (a: Pool, b: Pool): number =>
  a.labels.length - b.labels.length || b.priority - a.priority || (a.name < b.name ? -1 : 1);

/**
 * What the configuration says of an entity, by its id before its login, or undefined if it may not
 * use Paddock.
 */
export function entityRule(document: PoolsDocument, entity: NamedEntity): PoolsDocument['entities'][string] | undefined {
  return ruleAmong(new Map(Object.entries(document.entities).map(([key, given]) => [key.toLowerCase(), given])), entity);
}

/**
 * The login, in lower case, by which the configuration admits an entity to a pool; undefined if by
 * its id or by what anybody fits.
 */
export function admittingLogin(
  { entities, pools }: PoolsDocument,
  entity: NamedEntity,
  place: { readonly pool: string },
): string | undefined {
  const listed = loginAmong(new Set(Object.keys(entities).map((key) => key.toLowerCase())), entity);
  return listed ?? loginThrough(pools.find(({ name }) => name === place.pool) ?? {}, entity);
}
