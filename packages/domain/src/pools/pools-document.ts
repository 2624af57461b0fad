import { z } from 'zod';
import { asRecord } from './as-record.ts';
import { deadlines } from './deadlines.ts';
import { isWrongId, loginAmong, type NamedAccount, ruleAmong, USUAL_MAX_WORKERS } from './entities.ts';
import { foreignToPools } from './foreign-keys.ts';
import { entitiesGate, loginThrough, repositoriesGate } from './gate.ts';
import { misplacedGates, sameGateAs } from './gate-rules.ts';
import { MOST_LABEL_BYTES, normaliseLabels, storableLabels } from './labels.ts';
import { OFFICIAL_IMAGE } from './official-image.ts';
import { podKeys, refuseSaidTwice } from './pod-keys.ts';
import { caBundle, containerMode, proxy } from './pod-settings.ts';
import { podTemplate, refuseLogsInStatus, templateImage } from './pod-template.ts';
import { warm } from './pool-warm.ts';

const NAME = /^[a-z]([a-z0-9.-]{0,28}[a-z0-9])?$/;

const count = z.int().min(0).max(100_000);

const writtenPool = z.strictObject({
  ...foreignToPools,
  name: z
    .string()
    .regex(NAME, 'must be 1 to 30 characters of a-z, 0-9, - and ., beginning with a letter')
    .describe('Part of the names of its runners and pods, there with - for each dot.'),
  labels: z
    .array(z.string().min(1).max(256))
    .min(1, 'needs at least one label')
    .max(100, 'may have at most 100 labels')
    .transform(normaliseLabels)
    .refine(
      (labels) => storableLabels(labels).length === labels.length,
      `may have ${MOST_LABEL_BYTES} bytes of labels, counting 4 more for each`,
    )
    .describe('A job fits if all that it asks for in `runs-on` is among these, without regard to case.'),
  image: z
    .string()
    .min(1)
    .optional()
    .describe("The runner's image; without one that of the template's container `runner`, else the official one."),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a Kubernetes namespace')
    .describe('Where its pods are made.'),
  priority: z.int().default(0).describe('Decides between pools of equally many labels that a job fits; the higher wins.'),
  registration: z
    .enum(['organization', 'repository'])
    .default('organization')
    .describe('Where runners register for organisations; for personal accounts it is always the repository.'),
  runnerGroup: z.string().min(1).default('Default').describe('The runner group of organisations; it is made if it is not there.'),
  publicRepositories: z.boolean().default(false).describe('Whether jobs of public repositories are served.'),
  maxWorkers: count.nullable().default(null).describe('Most workers at one time; null: no limit, 0: switched off.'),
  maxWorkersPerRepository: count.nullable().default(null).describe('The same for one repository; only with `registration: repository`.'),
  paused: z.boolean().default(false).describe('Makes no more workers; those that are there go on.'),
  // What came after the first version is absent, not defaulted: the version before must read what it knows of a document stored by this one.
  runnerGroupVisibility: z
    .enum(['all', 'private', 'selected'])
    .optional()
    .describe('Which repositories of the organisation may use a runner group that Paddock makes; all without it.'),
  containerMode: containerMode
    .optional()
    .describe('none, or dind: a Docker daemon beside the runner, as actions-runner-controller makes it.'),
  proxy: proxy.optional().describe('What runner and Docker daemon reach the outside through.'),
  caBundle: caBundle.optional().describe('A ConfigMap with certificates that runner and Docker daemon trust.'),
  warm: warm.optional().describe('Workers that are kept idle, so that jobs begin at once.'),
  keepLogs: z
    .boolean()
    .optional()
    .describe(
      'Whether the rows of its workers that failed keep the ends of their logs, without what looks like a credential; true without it.',
    ),
  entities: entitiesGate
    .optional()
    .describe('Whose jobs it serves, of those that the file’s `entities` admit: logins, in which * stands for any characters, or id:123.'),
  repositories: repositoriesGate
    .optional()
    .describe('Which repositories it serves, as owner/name with * for any characters; with `registration: repository`, or a runner group.'),
  allowUntrusted: z
    .boolean()
    .optional()
    .describe(
      'Says a second time that a pool whose jobs get power over their node serves strangers, public repositories or the default runner group.',
    ),
  ...deadlines,
  ...podKeys,
  template: podTemplate.optional().describe("Metadata and PodSpec of its pods, as in actions-runner-controller's `template`."),
});

/** What may stand in a pool. */
export const keysOfPools: readonly string[] = Object.keys(writtenPool.shape).filter((key) => !(key in foreignToPools));

/** One class of workers, as it is kept in the database. */
export const pool = writtenPool
  .superRefine(refuseSaidTwice, { when: () => true })
  .superRefine(refuseLogsInStatus, { when: () => true })
  .transform(({ image, ...rest }) => ({ ...rest, image: image ?? templateImage(rest.template) ?? OFFICIAL_IMAGE }));

const weight = z.number().min(0.01, 'must be at least 0.01').max(1_000);

const entity = z.strictObject({
  maxWorkers: count
    .nullable()
    .default(USUAL_MAX_WORKERS)
    .describe('Most workers of the account at one time; null: no limit, 0: switched off.'),
  weight: weight.default(1).describe('Its share of a pool that is full, against those of other accounts.'),
  commonMaxWorkers: count
    .optional()
    .describe("Only under '*': most workers of all accounts that it alone admits, together; no limit without it."),
  commonWeight: weight
    .optional()
    .describe("Only under '*': all accounts that it alone admits share a full pool like one of this weight; 1 without it."),
});

/** The sections of the configuration file that are kept in the database. */
export const poolsSections = {
  pools: z.array(pool).describe('Classes of workers.'),
  entities: z
    .record(z.string().min(1), entity)
    .describe(
      "Who may use them: by login, without regard to case, or by the account's id as id:123; '*' stands for everybody else and must be written out.",
    ),
};

/** The pools and who may use them, as loaded from the configuration file and kept in the database. */
export const poolsDocument = checkedTogether(z.strictObject(poolsSections));

export type PoolsDocument = z.infer<typeof poolsDocument>;
/** As people write it, without what has a default. */
export type PoolsDocumentInput = z.input<typeof poolsDocument>;
export type Pool = z.infer<typeof pool>;

/** The pool that serves most jobs with these labels; those whose repository or account it does not serve go to the next (B4). */
export const poolFor = (pools: readonly Pool[], jobLabels: readonly string[]): Pool | undefined => poolsFor(pools, jobLabels)[0];

/**
 * The pools whose labels fit a job: all of its own are in the pool's set, compared without case. First the one with the fewest labels, then
 * the highest priority, then the first name. A job without labels fits none (B4).
 */
export function poolsFor(pools: readonly Pool[], jobLabels: readonly string[]): Pool[] {
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

/** What the configuration says of an account, by its id before its login, or undefined if it may not use Paddock. */
export function entityRule(document: PoolsDocument, account: NamedAccount): PoolsDocument['entities'][string] | undefined {
  return ruleAmong(new Map(Object.entries(document.entities).map(([key, rule]) => [key.toLowerCase(), rule])), account);
}

/** The login, in lower case, by which the configuration admits an account to a pool; undefined if by its id or by what anybody fits. */
export function admittingLogin(
  { entities, pools }: PoolsDocument,
  account: NamedAccount,
  place: { readonly pool: string },
): string | undefined {
  const listed = loginAmong(new Set(Object.keys(entities).map((key) => key.toLowerCase())), account);
  return listed ?? loginThrough(pools.find(({ name }) => name === place.pool) ?? {}, account);
}

/** Adds what no single pool can know. It is told beside whatever else is wrong, so that a file is corrected once. */
export function checkedTogether<T extends z.ZodType>(schema: T): T {
  return schema.superRefine((content, context) => checkTogether(content, context), { when: () => true });
}

/** What of a content can be judged: a pool that is none is undefined, and told by its own schema. */
export function usablePartsOf(content: unknown): { pools: (Pool | undefined)[]; entities: Record<string, unknown> } {
  const { pools, entities } = z
    .object({ pools: z.array(z.unknown()).catch([]), entities: z.record(z.string(), z.unknown()).catch({}) })
    .catch({ pools: [], entities: {} })
    .parse(content);
  return { pools: pools.map((candidate) => pool.safeParse(candidate).data), entities };
}

/** Names and label sets are unique, caps are where they can be kept. */
function checkTogether(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = usablePartsOf(content);
  const report = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const byName = new Set<string>();
  const byLabels = new Map<string, Pool[]>();
  for (const [index, data] of pools.entries()) {
    if (data === undefined) continue;
    const { name, labels, registration, maxWorkersPerRepository, warm: kept = [] } = data;
    if (data.runnerGroupVisibility === 'private' && data.publicRepositories) {
      report(['pools', index, 'runnerGroupVisibility'], 'private keeps public repositories out, which publicRepositories lets in');
    }
    if (byName.has(name)) report(['pools', index, 'name'], `there is another pool named ${name}`);
    byName.add(name);
    const key = JSON.stringify(labels);
    const alike = byLabels.get(key) ?? [];
    const twin = alike.find((other) => sameGateAs(data)(other));
    if (twin !== undefined) {
      report(['pools', index, 'labels'], `pool ${twin.name} has the same labels: GitHub could not tell the two apart`);
    }
    byLabels.set(key, [...alike, data]);
    for (const { path, message } of misplacedGates(data)) report(['pools', index, ...path], message);
    for (const [nth, { scope }] of kept.entries()) {
      if (registration === 'organization' || scope.includes('/')) continue;
      report(
        ['pools', index, 'warm', nth, 'scope'],
        `must be ${scope}/REPOSITORY, because the runners of this pool register at repositories`,
      );
    }
    if (maxWorkersPerRepository !== null && registration === 'organization') {
      report(
        ['pools', index, 'maxWorkersPerRepository'],
        'a cap per repository needs registration: repository, because GitHub gives any job of an organisation any of its runners',
      );
    }
  }
  for (const key of Object.keys(entities).filter(isWrongId)) {
    report(['entities', key], "must be id: and the account's number, as in id:9919");
  }
  for (const [key, rule] of Object.entries(entities)) {
    if (key === '*') continue;
    for (const common of ['commonMaxWorkers', 'commonWeight'].filter((name) => Object.hasOwn(asRecord(rule), name))) {
      report(['entities', key, common], "belongs under '*', whose accounts are not named; an account of its own has maxWorkers and weight");
    }
  }
  const logins = Object.keys(entities).map((login) => login.toLowerCase());
  if (new Set(logins).size !== logins.length) report(['entities'], 'the same login is listed twice');
}
