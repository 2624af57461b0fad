import { z } from 'zod';
import { MOST_LABEL_BYTES, normaliseLabels, storableLabels } from './labels.ts';

const NAME = /^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$/;

const count = z.int().min(0).max(100_000);

/** Pod metadata and PodSpec, verbatim as in actions-runner-controller's `template`; the cluster judges what is inside. */
const template = z.strictObject({
  metadata: z
    .strictObject({ labels: z.record(z.string(), z.string()).optional(), annotations: z.record(z.string(), z.string()).optional() })
    .optional(),
  spec: z.record(z.string(), z.unknown()).optional(),
});

/** One class of workers, as it is kept in the database. */
export const pool = z.strictObject({
  name: z.string().regex(NAME, 'must be 1 to 30 characters of a-z, 0-9 and -, beginning with a letter'),
  labels: z
    .array(z.string().min(1).max(256))
    .min(1, 'needs at least one label')
    .max(100, 'may have at most 100 labels')
    .transform(normaliseLabels)
    .refine(
      (labels) => storableLabels(labels).length === labels.length,
      `may have ${MOST_LABEL_BYTES} bytes of labels, counting 4 more for each`,
    ),
  image: z.string().min(1),
  namespace: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a Kubernetes namespace'),
  /** Decides between pools of equally many labels; the higher wins. */
  priority: z.int().default(0),
  /** Where runners register for organisations; for personal accounts it is always the repository. */
  registration: z.enum(['organization', 'repository']).default('organization'),
  runnerGroup: z.string().min(1).default('Default'),
  publicRepositories: z.boolean().default(false),
  maxWorkers: count.nullable().default(null),
  maxWorkersPerRepository: count.nullable().default(null),
  paused: z.boolean().default(false),
  template: template.optional(),
});

const entity = z.strictObject({
  maxWorkers: count.nullable().default(20),
  /** Its share of a pool that is full, against those of other accounts. */
  weight: z.number().min(0.01, 'must be at least 0.01').max(1_000).default(1),
});

const shape = {
  pools: z.array(pool),
  /** By login, without regard to case; '*' stands for everybody else and must be written out. */
  entities: z.record(z.string().min(1), entity),
};

/** The pools and who may use them, as loaded from the configuration file and kept in the database. */
export const poolsDocument = z.strictObject(shape).superRefine(checkTogether);

export type PoolsDocument = z.infer<typeof poolsDocument>;
/** As people write it, without what has a default. */
export type PoolsDocumentInput = z.input<typeof poolsDocument>;
export type Pool = z.infer<typeof pool>;

/**
 * The pool for a job's labels: all of them are in the pool's set, compared without case. Of several the one with the fewest labels, then
 * the highest priority, then the first name. A job without labels fits none (B4).
 */
export const poolFor = (pools: readonly Pool[], jobLabels: readonly string[]): Pool | undefined => poolsFor(pools, jobLabels)[0];

/** All pools that a job with these labels fits, the one that serves it first. */
function poolsFor(pools: readonly Pool[], jobLabels: readonly string[]): Pool[] {
  const wanted = normaliseLabels(jobLabels);
  if (wanted.length === 0) return [];
  return pools.filter((candidate) => wanted.every((label) => candidate.labels.includes(label))).toSorted(byPreference);
}

/** The largest label sets that fit several pools, with the names of these pools, the one that serves such jobs first. */
export function sharedLabels(pools: readonly Pool[]): { labels: readonly string[]; pools: readonly string[] }[] {
  const sets = pools.flatMap((one, index) =>
    pools.slice(index + 1).map((other) => one.labels.filter((label) => other.labels.includes(label))),
  );
  const byKey = new Map(sets.filter((labels) => labels.length > 0).map((labels) => [labels.join('\n'), labels]));
  return [...byKey.values()].map((labels) => ({ labels, pools: poolsFor(pools, labels).map(({ name }) => name) }));
}

const byPreference = (a: Pool, b: Pool): number =>
  a.labels.length - b.labels.length || b.priority - a.priority || (a.name < b.name ? -1 : 1);

/** What the configuration says of an account, or undefined if it may not use Paddock. */
export function entityRule(document: PoolsDocument, login: string): PoolsDocument['entities'][string] | undefined {
  const wanted = login.toLowerCase();
  const own = Object.entries(document.entities).find(([name]) => name.toLowerCase() === wanted);
  return own?.[1] ?? document.entities['*'];
}

/** What no single pool can know: names and label sets are unique, caps are where they can be kept. */
function checkTogether(
  { pools, entities }: { pools: readonly Pool[]; entities: Readonly<Record<string, unknown>> },
  context: z.RefinementCtx,
): void {
  const report = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const byName = new Set<string>();
  const byLabels = new Map<string, string>();
  for (const [index, { name, labels, registration, maxWorkersPerRepository }] of pools.entries()) {
    if (byName.has(name)) report(['pools', index, 'name'], `there is another pool named ${name}`);
    byName.add(name);
    const key = JSON.stringify(labels);
    const twin = byLabels.get(key);
    if (twin !== undefined) report(['pools', index, 'labels'], `pool ${twin} has the same labels: GitHub could not tell the two apart`);
    byLabels.set(key, name);
    if (maxWorkersPerRepository !== null && registration === 'organization') {
      report(
        ['pools', index, 'maxWorkersPerRepository'],
        'a cap per repository needs registration: repository, because GitHub gives any job of an organisation any of its runners',
      );
    }
  }
  const logins = Object.keys(entities).map((login) => login.toLowerCase());
  if (new Set(logins).size !== logins.length) report(['entities'], 'the same login is listed twice');
}
