import { z } from 'zod';
import { asRecord } from './as-record.ts';
import { isWrongId } from './entities.ts';
import { type Gate, namesEntities, servesEntity, servesRepository } from './gate.ts';
import { nodePowersOf } from './node-powers.ts';
import { isForWindows } from './is-for-windows.ts';
import { type Pool, pool as poolSchema } from './pool.ts';

/** Adds the checks across pools, which run even if others fail: an operator sees all. */
export function checkedTogether<T extends z.ZodType>(schema: T): T {
  return schema.superRefine((content, context) => checkTogether(content, context), {
    when: () => true,
  });
}

/** The valid parts of a content. An invalid pool is undefined; its own schema reports it. */
function validPartsOf(content: unknown): {
  pools: (Pool | undefined)[];
  entities: Record<string, unknown>;
} {
  const { pools, entities } = z
    .object({
      pools: z.array(z.unknown()).catch([]),
      entities: z.record(z.string(), z.unknown()).catch({}),
    })
    .catch({ pools: [], entities: {} })
    .parse(content);
  return { pools: pools.map((candidate) => poolSchema.safeParse(candidate).data), entities };
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Names and label sets must be unique, and caps must be enforceable. */
function checkTogether(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = validPartsOf(content);
  const problems = [
    ...pools.flatMap((pool, index) =>
      pool === undefined
        ? []
        : [...problemsAmong(pool, pools.slice(0, index)), ...problemsOf(pool)].map(
            ({ path, message }) => ({ path: ['pools', index, ...path], message }),
          ),
    ),
    ...problemsOfEntities(entities),
  ];
  for (const { path, message } of problems)
    context.addIssue({ code: 'custom', path: [...path], message });
}

function problemsAmong(pool: Pool, before: readonly (Pool | undefined)[]): Problem[] {
  const { name, labels } = pool;
  const others = before.filter((one) => one !== undefined);
  const key = labels.join('\n');
  const twin = others.find((other) => other.labels.join('\n') === key && haveSameGate(pool, other));
  return [
    ...(others.some((other) => other.name === name)
      ? [{ path: ['name'], message: `there is another pool named ${name}` }]
      : []),
    ...(twin === undefined
      ? []
      : [
          {
            path: ['labels'],
            message: `pool ${twin.name} has the same labels: GitHub could not tell the two apart`,
          },
        ]),
  ];
}

/** Rules of one pool that contradict each other, or that do not hold at GitHub. */
function problemsOf(pool: Pool): Problem[] {
  const { entities, repositories, registration, runnerGroupVisibility, warm = [] } = pool;
  const isWindows = isForWindows(pool);
  const isOfOrganization = registration === 'organization';
  const isShared = repositories !== undefined && isOfOrganization;
  const rules: [isBroken: boolean, path: PropertyKey[], message: string][] = [
    [
      runnerGroupVisibility === 'private' && pool.publicRepositories,
      ['runnerGroupVisibility'],
      'private keeps public repositories out, which publicRepositories lets in',
    ],
    [
      isShared && pool.runnerGroup.toLowerCase() === 'default',
      ['repositories'],
      'GitHub gives any job of an organisation any runner of its default group: write registration: repository, or name a runnerGroup that only these repositories may use',
    ],
    [
      isShared && (runnerGroupVisibility ?? 'selected') !== 'selected',
      ['runnerGroupVisibility'],
      'must be selected, or left out: repositories says which may use the runner group',
    ],
    [
      pool.unlabelled === true && entities === undefined && repositories === undefined,
      ['unlabelled'],
      'needs entities or repositories: a queued job names no runner group, so only its place says that it is meant',
    ],
    ...warm.flatMap(({ scope }, nth): typeof rules => [
      [
        !mayServe(pool, scope),
        ['warm', nth, 'scope'],
        'is not served by this pool: see its entities and repositories',
      ],
      [
        !isOfOrganization && !scope.includes('/'),
        ['warm', nth, 'scope'],
        `must be ${scope}/REPOSITORY, because the runners of this pool register at repositories`,
      ],
    ]),
    [
      isWindows && pool.containerMode === 'dind',
      ['containerMode'],
      "dind is a daemon for Linux, and this pool's nodes have Windows: leave it out",
    ],
    [
      isWindows && pool.caBundle !== undefined,
      ['caBundle'],
      "is mounted where Linux reads it, and this pool's nodes have Windows: build the certificates into the image",
    ],
    [
      pool.maxWorkersPerRepository !== null && isOfOrganization,
      ['maxWorkersPerRepository'],
      'a cap per repository needs registration: repository, because GitHub gives any job of an organisation any of its runners',
    ],
  ];
  return rules.flatMap(([isBroken, path, message]) => (isBroken ? [{ path, message }] : []));
}

function problemsOfEntities(entities: Readonly<Record<string, unknown>>): Problem[] {
  const keys = Object.keys(entities);
  const logins = new Set(keys.map((login) => login.toLowerCase()));
  return [
    ...keys.filter(isWrongId).map((key) => ({
      path: ['entities', key],
      message: "must be id: and the entity's number, as in id:9919",
    })),
    ...keys
      .filter((key) => key !== '*')
      .flatMap((key) =>
        ['commonMaxWorkers', 'commonWeight']
          .filter((name) => Object.hasOwn(asRecord(entities[key]), name))
          .map((name) => ({
            path: ['entities', key, name],
            message:
              "belongs under '*', whose entities are not named; a named entity has maxWorkers and weight",
          })),
      ),
    ...(logins.size === keys.length
      ? []
      : [{ path: ['entities'], message: 'the same login is listed twice' }]),
  ];
}

/** A scope is a login or owner/name. Whose the login is is unknown here: any id may be right. */
export function mayServe({ entities, repositories }: Gate, scope: string): boolean {
  const [login = ''] = scope.split('/');
  const isEntity =
    servesEntity({ entities }, { id: 0, login }) ||
    entities?.some((one) => one.startsWith('id:')) === true;
  return isEntity && (!scope.includes('/') || servesRepository({ repositories }, scope));
}

/** Whether two pools serve the same jobs. With the same labels, one of them would get none. */
const haveSameGate = (one: Gate, other: Gate): boolean =>
  (['entities', 'repositories'] as const).every((key) => asText(one[key]) === asText(other[key]));

const asText = (patterns: readonly string[] | undefined): string | undefined =>
  patterns
    ?.map((one) => one.toLowerCase())
    .toSorted()
    .join('\n');

interface UnnamedUsers {
  readonly whom: string;
  readonly remedy: string;
}

/** The users who can run jobs in a pool although the pool does not name them. */
export const unnamedUsers = (
  entities: Readonly<Record<string, unknown>>,
  pool: Pool,
): UnnamedUsers[] => [
  ...(Object.hasOwn(entities, '*') && !namesEntities(pool) ? [EVERYONE] : []),
  ...(pool.publicRepositories ? [PUBLIC] : []),
];

const EVERYONE = {
  whom: "everyone who installs the App, because of '*' in entities",
  remedy: 'name entities, without a *, in entities of the pool',
};
const PUBLIC = {
  whom: 'public repositories, where anyone can propose code to run',
  remedy: 'leave publicRepositories out',
};
/** Every repository of an organisation may use it, and we do not control it. */
const DEFAULT_GROUP = {
  whom: 'all that may use the runner group Default',
  remedy: 'name a separate runnerGroup, or write registration: repository',
};

/**
 * Why a pool needs `allowUntrusted`: an unnamed user who runs a job in it gets its node. Checked
 * when a file is loaded, not when a stored document is read: the pools in force stay in force.
 */
function untrustedUses(entities: Readonly<Record<string, unknown>>, pool: Pool): string[] {
  const [power] = nodePowersOf(pool);
  if (pool.allowUntrusted || power === undefined) return [];
  const isInDefault =
    pool.registration === 'organization' && pool.runnerGroup.toLowerCase() === 'default';
  return [...unnamedUsers(entities, pool), ...(isInDefault ? [DEFAULT_GROUP] : [])].map(
    ({ whom, remedy }) =>
      `its jobs have power over their node (${power}), and it serves ${whom}: ${remedy}; or, if that is meant, write allowUntrusted: true`,
  );
}

/** Refuses such pools in a file. Other problems are reported, too. */
export function refuseUntrusted(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = validPartsOf(content);
  for (const [index, pool] of pools.entries()) {
    const messages = pool === undefined ? [] : untrustedUses(entities, pool);
    for (const message of messages)
      context.addIssue({ code: 'custom', path: ['pools', index, 'allowUntrusted'], message });
  }
}
