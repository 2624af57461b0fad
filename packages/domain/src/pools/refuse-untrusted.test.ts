import { describe, expect, test } from '@jest/globals';
import { configFileToLoad } from './config-file.ts';
import { nodePowersOf } from './node-powers.ts';
import { poolsDocument } from './pools-document.ts';

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
