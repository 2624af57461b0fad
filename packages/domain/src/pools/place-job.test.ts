import { describe, expect, test } from '@jest/globals';
import { configFileToLoad } from './config-file.ts';
import { nodePowersOf } from './node-powers.ts';
import { NO_POOL, placeJob, poolsClosedTo, poolsNamingLogin, replaceJob } from './place-job.ts';
import { poolsDocument } from './pools-document.ts';

const document = poolsDocument.parse({
  pools: [
    { name: 'small', labels: ['linux', 'x64'], image: 'runner:1', namespace: 'runners' },
    {
      name: 'open',
      labels: ['open'],
      image: 'runner:2',
      namespace: 'runners',
      publicRepositories: true,
      registration: 'repository',
    },
  ],
  entities: { Acme: {} },
});
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

describe('placeJob', () => {
  test('finds the pool, its image and the scope (B4, C2)', () => {
    expect(placeJob(document, job)).toEqual({ pool: 'small', image: 'runner:1', scopeRepoId: 0 });
    expect(placeJob(document, { ...job, entity: { ...job.entity, type: 'User' } })).toMatchObject({
      scopeRepoId: 9,
    });
    expect(placeJob(document, { ...job, labels: ['open'] })).toMatchObject({
      pool: 'open',
      scopeRepoId: 9,
    });
  });

  test('says why there is none: the entity, the labels, the public repository (B4)', () => {
    expect(placeJob(document, { ...job, entity: { ...job.entity, login: 'other' } })).toEqual({
      ignored: 'ignored_entity',
    });
    expect(placeJob(document, { ...job, labels: ['windows'] })).toEqual({
      ignored: 'ignored_no_label',
    });
    expect(placeJob(document, { ...job, labels: [] })).toEqual({ ignored: 'ignored_no_label' });
    expect(placeJob(document, { ...job, isPublic: true })).toEqual({
      ignored: 'ignored_public_repository',
    });
    expect(placeJob(document, { ...job, labels: ['open'], isPublic: true })).toMatchObject({
      pool: 'open',
    });
  });
});

describe('the jobs that a pool serves', () => {
  const everybody = { name: 'b-all', labels: ['docker'], image: 'runner:2', namespace: 'runners' };
  const ofAcme = { ...everybody, name: 'a-acme', entities: ['acme*', 'id:7'] };
  const ofInfra = {
    ...everybody,
    name: 'infra',
    priority: 1,
    registration: 'repository',
    repositories: ['acme/infra'],
  } as const;
  const gated = poolsDocument.parse({ pools: [everybody, ofAcme, ofInfra], entities: { '*': {} } });

  test.each([
    ['of a repository that the first pool serves', from('acme', 1, 'Acme/Infra'), 'infra'],
    ['of an entity that the next one serves', from('ACME', 1, 'acme/api'), 'a-acme'],
    [
      'of an entity with an id that it serves, under a new login',
      from('renamed', 7, 'renamed/api'),
      'a-acme',
    ],
    ['of another entity', from('beta', 2, 'beta/infra'), 'b-all'],
  ])('a job %s goes there (B4)', (_what, given, pool) => {
    expect(placeJob(gated, given)).toMatchObject({ pool });
  });

  test('tells a job that the pools with its labels do not serve from a job without such pools (B4)', () => {
    const closed = poolsDocument.parse({ pools: [ofAcme, ofInfra], entities: { '*': {} } });
    expect(placeJob(closed, from('beta', 2, 'beta/infra'))).toEqual({
      ignored: 'ignored_pool_closed',
    });
    expect(placeJob(closed, { ...from('beta', 2, 'beta/infra'), labels: ['gpu'] })).toEqual({
      ignored: 'ignored_no_label',
    });
    expect(
      replaceJob(closed, {
        ...from('beta', 2, 'beta/api'),
        pool: 'a-acme',
        image: 'runner:0',
        scopeRepoId: 0,
      }),
    ).toMatchObject({
      pool: NO_POOL,
    });
  });

  test('the pools that are closed to a job are those that serve neither its entity nor its repository, nor public ones', () => {
    expect(poolsClosedTo(gated, from('beta', 2, 'beta/infra'))).toEqual(['a-acme', 'infra']);
    expect(poolsClosedTo(gated, from('acme', 1, 'acme/infra'))).toEqual([]);
    expect(poolsClosedTo(gated, { ...from('acme', 1, 'acme/infra'), isPublic: true })).toEqual([
      'b-all',
      'a-acme',
      'infra',
    ]);
    expect(poolsClosedTo(gated, { ...from('acme', 1, 'acme/infra'), isPublic: null })).toEqual([]);
  });
});

describe('replaceJob', () => {
  const waiting = { ...job, pool: 'small', image: 'runner:0', scopeRepoId: 0 };
  test.each([
    ['stays where it fits', waiting, undefined],
    [
      'goes to the pool that serves it now',
      { ...waiting, pool: 'large' },
      { pool: 'small', image: 'runner:1', scopeRepoId: 0 },
    ],
    [
      'registers elsewhere if its pool does',
      { ...waiting, labels: ['open'], pool: 'open' },
      { pool: 'open', image: 'runner:2', scopeRepoId: 9 },
    ],
    [
      'belongs nowhere when its pool lost a label',
      { ...waiting, labels: ['gpu'] },
      { pool: NO_POOL, image: 'runner:0', scopeRepoId: 0 },
    ],
    [
      'belongs nowhere when public repositories are not served',
      { ...waiting, isPublic: true },
      { pool: NO_POOL, image: 'runner:0', scopeRepoId: 0 },
    ],
    ['stays in a pool that has gone', { ...waiting, labels: ['gpu'], pool: 'gpu' }, undefined],
    [
      'stays with an entity that is not allowed',
      { ...waiting, entity: { ...job.entity, login: 'other' } },
      undefined,
    ],
    ['stays nowhere', { ...waiting, labels: ['gpu'], pool: NO_POOL }, undefined],
  ])('a waiting job %s (B4, P5)', (_name, given, expected) => {
    expect(replaceJob(document, given)).toEqual(expected);
  });
});

test('pools that name an entity by login, not by id, follow the login to its present entity (A12)', () => {
  const pool = { labels: ['x'], image: 'runner:1', namespace: 'runners' };
  const pools = [
    { ...pool, name: 'login', labels: ['a'], entities: ['acme'] },
    { ...pool, name: 'id', labels: ['b'], entities: ['id:1'] },
    { ...pool, name: 'both', labels: ['c'], entities: ['Acme', 'id:1'] },
    { ...pool, name: 'other', labels: ['d'], entities: ['beta'] },
    { ...pool, name: 'all', labels: ['e'] },
  ];
  expect(
    poolsNamingLogin(poolsDocument.parse({ pools, entities: { acme: {}, beta: {} } }), job),
  ).toEqual(['login']);
});

const POOL = { name: 'a', labels: ['x'], image: 'runner:1', namespace: 'runners' };
/** Only the named entities get a job into it. */
const KEPT = { ...POOL, runnerGroup: 'docker', containerMode: 'dind' };

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

describe('settings that give jobs power over their node', () => {
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
  ])('%j: %j', (more, powers) => {
    const [pool] = poolsDocument.parse({ pools: [{ ...POOL, ...more }], entities: {} }).pools;
    expect(pool && nodePowersOf(pool)).toEqual(powers);
  });
});

describe('a pool whose jobs have power over their node', () => {
  test('is no other one: a harmless pool serves everybody', () => {
    expect(problemsOf(POOL, { '*': {} })).toBeUndefined();
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

  test.each<[string, object, object, string]>([
    ["serves '*'", {}, { '*': {} }, 'name entities, without a *, in entities of the pool'],
    [
      'serves any entity that takes a fitting login',
      { entities: ['acme-*'] },
      { '*': {} },
      'name entities',
    ],
    [
      'serves public repositories',
      { publicRepositories: true },
      { acme: {} },
      'leave publicRepositories out',
    ],
    [
      'is in the default runner group',
      { runnerGroup: 'default' },
      { acme: {} },
      'name a separate runnerGroup',
    ],
  ])('is refused if it %s, unless that is said twice', (_what, more, entities, remedy) => {
    const [problem, ...others] = problemsOf({ ...KEPT, ...more }, entities) ?? [];
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^pools\.0\.allowUntrusted: its jobs have power over their node \(containerMode: dind\)/,
    );
    expect(problem).toContain(remedy);
    expect(problem).toContain('write allowUntrusted: true');
    expect(problemsOf({ ...KEPT, ...more, allowUntrusted: true }, entities)).toBeUndefined();
  });

  test('reads all that is wrong at once', () => {
    expect(
      problemsOf({ ...POOL, containerMode: 'dind', publicRepositories: true }, { '*': {} }),
    ).toHaveLength(3);
  });

  test('that is in force already is read as before: a running installation goes on', () => {
    const { pools, entities } = fileOf(
      { ...POOL, containerMode: 'dind', publicRepositories: true },
      { '*': {} },
    );
    expect(poolsDocument.safeParse({ pools, entities }).success).toBe(true);
  });
});
