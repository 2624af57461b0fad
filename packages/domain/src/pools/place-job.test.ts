import { describe, expect, test } from '@jest/globals';
import { configFileToLoad } from './config-file.ts';
import { nodePowersOf } from './node-powers.ts';
import { NO_POOL, placeJob, poolsClosedTo, poolsNamingLogin, replaceJob } from './place-job.ts';
import { poolsDocument } from './pools-document.ts';
import { documentOf, parsedPool, poolWith } from '../scenes/pools-document.scene.ts';

const document = documentOf(
  [
    { name: 'small', labels: ['linux', 'x64'] },
    { name: 'open', labels: ['open'], publicRepositories: true, registration: 'repository' },
    {
      name: 'group',
      labels: ['x'],
      unlabelled: true,
      repositories: ['acme/deploy'],
      runnerGroup: 'g',
    },
  ],
  { Acme: {} },
);
const job = {
  entity: { id: 1, login: 'acme', type: 'Organization' },
  labels: ['linux'],
  isPublic: false,
  repoId: 9,
  repoFullName: 'acme/api',
} as const;

const from = (login: string, id: number, repoFullName: string) => ({
  ...job,
  labels: ['docker'],
  entity: { ...job.entity, login, id },
  repoFullName,
});

const SMALL = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const OPEN = { ...SMALL, pool: 'open', scopeRepoId: 9 };

test.each([
  ['its labels', {}, SMALL],
  [
    'a user, at its repository',
    { entity: { ...job.entity, type: 'User' } },
    { ...SMALL, scopeRepoId: 9 },
  ],
  ['a pool that registers at repositories', { labels: ['open'] }, OPEN],
  ['a public repository that is served', { labels: ['open'], isPublic: true }, OPEN],
  ['another entity', { entity: { ...job.entity, login: 'other' } }, { ignored: 'ignored_entity' }],
  ['other labels', { labels: ['windows'] }, { ignored: 'ignored_no_label' }],
  [
    'no labels, of a repository of a pool for such jobs',
    { labels: [], repoFullName: 'acme/deploy' },
    { ...SMALL, pool: 'group' },
  ],
  ['no labels, of another', { labels: [] }, { ignored: 'ignored_pool_closed' }],
  ['a public repository', { isPublic: true }, { ignored: 'ignored_public_repository' }],
] as const)('the place of a job with %s (B4, C2)', (_what, given, place) => {
  expect(placeJob(document, { ...job, ...given })).toEqual(place);
});

describe('the jobs that a pool serves', () => {
  const labels = ['docker'];
  const everybody = { name: 'b-all', labels };
  const ofAcme = { name: 'a-acme', labels, entities: ['acme*', 'id:7'] };
  const ofInfra = {
    name: 'infra',
    labels,
    priority: 1,
    registration: 'repository',
    repositories: ['acme/infra'],
  };
  const gated = documentOf([everybody, ofAcme, ofInfra]);

  test.each([
    ['of a repository that the first pool serves', from('acme', 1, 'Acme/Infra'), 'infra'],
    ['of an entity that the next one serves', from('ACME', 1, 'acme/api'), 'a-acme'],
    ['of an entity by its id, under a new login', from('renamed', 7, 'renamed/api'), 'a-acme'],
    ['of another entity', from('beta', 2, 'beta/infra'), 'b-all'],
  ])('a job %s goes there (B4)', (_what, given, pool) => {
    expect(placeJob(gated, given)).toMatchObject({ pool });
  });

  test('tells a job that the pools with its labels do not serve from a job without such pools (B4)', () => {
    const closed = documentOf([ofAcme, ofInfra]);
    const beta = from('beta', 2, 'beta/infra');
    expect(placeJob(closed, beta)).toEqual({ ignored: 'ignored_pool_closed' });
    expect(placeJob(closed, { ...beta, labels: ['gpu'] })).toEqual({ ignored: 'ignored_no_label' });
    const placed = { ...beta, pool: 'a-acme', image: 'runner:0', scopeRepoId: 0 };
    expect(replaceJob(closed, placed)).toMatchObject({ pool: NO_POOL });
  });

  test('the pools that are closed to a job are those that serve neither its entity nor its repository, nor public ones', () => {
    const ours = from('acme', 1, 'acme/infra');
    const all = ['b-all', 'a-acme', 'infra'];
    expect(poolsClosedTo(gated, from('beta', 2, 'beta/infra'))).toEqual(['a-acme', 'infra']);
    expect(poolsClosedTo(gated, ours)).toEqual([]);
    expect(poolsClosedTo(gated, { ...ours, isPublic: true })).toEqual(all);
    expect(poolsClosedTo(gated, { ...ours, isPublic: null })).toEqual([]);
  });
});

describe('replaceJob', () => {
  const waiting = { ...job, pool: 'small', image: 'runner:0', scopeRepoId: 0 };
  const NOWHERE = { pool: NO_POOL, image: 'runner:0', scopeRepoId: 0 };
  test.each([
    ['stays where it fits', {}, undefined],
    ['goes to the pool that serves it now', { pool: 'large' }, SMALL],
    ['registers elsewhere if its pool does', { labels: ['open'], pool: 'open' }, OPEN],
    ['belongs nowhere when its pool lost a label', { labels: ['gpu'] }, NOWHERE],
    ['belongs nowhere when public repositories are not served', { isPublic: true }, NOWHERE],
    ['stays in a pool that has gone', { labels: ['gpu'], pool: 'gpu' }, undefined],
    ['of an entity not allowed stays', { entity: { ...job.entity, login: 'other' } }, undefined],
    ['stays nowhere', { labels: ['gpu'], pool: NO_POOL }, undefined],
  ])('a waiting job %s (B4, P5)', (_name, given, expected) => {
    expect(replaceJob(document, { ...waiting, ...given })).toEqual(expected);
  });
});

test('pools that name an entity by login, not by id, follow the login to its present entity (A12)', () => {
  const gates = { login: ['acme'], id: ['id:1'], both: ['Acme', 'id:1'], other: ['beta'] };
  const named = Object.entries(gates).map(([name, entities]) => ({
    name,
    labels: [name],
    entities,
  }));
  const pools = [...named, { name: 'all', labels: ['e'] }];
  expect(poolsNamingLogin(documentOf(pools, { acme: {}, beta: {} }), job)).toEqual(['login']);
});

/** Only the named entities get a job into it. */
const KEPT = poolWith({ runnerGroup: 'docker', containerMode: 'dind' });

const fileOf = (pool: object, entities: object) => ({
  github: { apps: [{ id: 1 }] },
  pools: [pool],
  entities,
});
const problemsOf = (pool: object, entities: object = { acme: {} }) =>
  configFileToLoad
    .safeParse(fileOf(pool, entities))
    .error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);

const withSpec = (spec: object) => ({ template: { spec } });
const inRunner = (securityContext: object) =>
  withSpec({ containers: [{ name: 'runner', securityContext }] });

test.each<[object, string[]]>([
  [{}, []],
  [{ containerMode: 'none' }, []],
  [{ containerMode: 'dind' }, ['containerMode: dind']],
  [
    withSpec({ hostNetwork: true, hostPID: true, hostIPC: true }),
    ['hostNetwork of its template', 'hostPID of its template', 'hostIPC of its template'],
  ],
  [withSpec({ hostNetwork: false, volumes: [{ name: 'work', emptyDir: {} }] }), []],
  [
    withSpec({ volumes: [{ name: 'sock', hostPath: { path: '/run' } }] }),
    ['hostPath in the volume sock'],
  ],
  [inRunner({ privileged: true }), ['privileged in the container runner']],
  [
    withSpec({ initContainers: [{ name: 'setup', securityContext: { privileged: true } }] }),
    ['privileged in the container setup'],
  ],
  [
    inRunner({ capabilities: { add: ['CHOWN', 'SYS_ADMIN'], drop: ['ALL'] } }),
    ['the capabilities SYS_ADMIN in the container runner'],
  ],
  [inRunner({ capabilities: { add: ['NET_BIND_SERVICE'] }, privileged: false }), []],
  [withSpec({ volumes: [{ name: 'work', hostPath: null }] }), []],
  [inRunner({ capabilities: { add: ['CAP_CHOWN', 'kill'] } }), []],
  [
    inRunner({ capabilities: { add: ['NET_CAP_BIND_SERVICE'] } }),
    ['the capabilities NET_CAP_BIND_SERVICE in the container runner'],
  ],
  [inRunner({ windowsOptions: { hostProcess: true } }), ['hostProcess in the container runner']],
  [
    withSpec({ securityContext: { windowsOptions: { hostProcess: true } } }),
    ['hostProcess of its template'],
  ],
])('settings that give jobs power over their node, %j: %j', (more, powers) => {
  expect(nodePowersOf(parsedPool(more))).toEqual(powers);
});

describe('a pool whose jobs have power over their node', () => {
  test('is no other one: a harmless pool serves everybody', () => {
    expect(problemsOf(poolWith({}), { '*': {} })).toBeUndefined();
  });

  test('serves named entities, in a separate runner group or at repositories', () => {
    expect(problemsOf(KEPT)).toBeUndefined();
    expect(
      problemsOf({ ...KEPT, runnerGroup: 'Default', registration: 'repository' }),
    ).toBeUndefined();
    expect(problemsOf({ ...KEPT, entities: ['acme', 'id:7'] }, { '*': {} })).toBeUndefined();
    expect(
      problemsOf({ ...KEPT, registration: 'repository', repositories: ['acme/*'] }, { '*': {} }),
    ).toBeUndefined();
  });

  test('that is in force already is read as before: a running installation goes on', () => {
    const { pools, entities } = fileOf(
      poolWith({ containerMode: 'dind', publicRepositories: true }),
      { '*': {} },
    );
    expect(poolsDocument.safeParse({ pools, entities }).success).toBe(true);
  });
});
