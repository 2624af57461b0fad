import { describe, expect, test } from '@jest/globals';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { warningsAbout } from './warnings.ts';

const POOL = { name: 'a', labels: ['x'], image: 'own:1', namespace: 'n' };
/** It serves named entities only. */
const DIND = { containerMode: 'dind', runnerGroup: 'docker', entities: ['acme'] };
const allWarnings = (pools: object[], entities: object = { '*': {} }) => {
  const written = { github: { apps: [{ id: 1 }] }, pools, entities };
  return warningsAbout(configFileToLoad.parse(written), written);
};
/** Those on sharing have tests of their own, and are made of most files. */
const ON_SHARING = /^'\*' has no commonMaxWorkers|^One repository can take/;
const warningsOf = (...file: Parameters<typeof allWarnings>) =>
  allWarnings(...file).filter((warning) => !ON_SHARING.test(warning));
const warnings = (pool: object, entities?: object) => warningsOf([{ ...POOL, ...pool }], entities);
const inTemplate = (spec: object, metadata?: object) => ({ template: { spec, metadata } });
const poolOf = (name: string, labels: string[], more: object = {}) => ({
  ...POOL,
  name,
  labels,
  ...more,
});
const inGroup = (name: string, more: object = {}) =>
  poolOf(name, [name], { runnerGroup: 'Paddock', ...more });

describe('settings that are valid but probably a mistake', () => {
  test.each<[object, string]>([
    [
      inTemplate({ containers: [{ name: 'Runner' }, { name: 'cache' }] }),
      'a has no container named runner in its template: Runner, cache will',
    ],
    [{ labels: ['x,y'] }, 'a has the label "x,y"'],
    [{ labels: ['x '] }, 'a has the label "x "'],
    [
      inTemplate({ containers: [{ name: 'runner', image: 'other:1' }] }),
      'a uses its own image own:1, not other:1',
    ],
    [{ paused: true }, 'a is switched off'],
    [{ image: undefined }, 'a names no image: it runs ghcr.io/actions/actions-runner:latest.'],
    [
      {
        image: undefined,
        ...inTemplate({ containers: [{ name: 'runner', command: ['/start'] }] }),
      },
      'a names no image: it runs ghcr.io/actions/actions-runner:latest.',
    ],
    [
      { ...DIND, ...inTemplate({ containers: [{ name: 'dind', image: 'd' }] }) },
      'a drops the container dind of its template, since containerMode: dind adds one: change that as initContainers[dind].',
    ],
    [
      inTemplate({ activeDeadlineSeconds: 3600 }),
      'a: template.spec.activeDeadlineSeconds is raised from 3600 to 540000',
    ],
    [
      inTemplate({ nodeSelctor: { a: 'b' } }),
      'a: template.spec.nodeSelctor is no field of a PodSpec, so the cluster would drop it; did you mean nodeSelector?',
    ],
    [
      inTemplate({ dockerdWithinRunnerContainer: true }),
      'a: template.spec.dockerdWithinRunnerContainer is no field of a PodSpec, so the cluster would drop it.',
    ],
    [
      inTemplate({ containers: [{ name: 'runner', envfrom: [] }] }),
      'a: template.spec.containers[0].envfrom is no field of a PodSpec, so the cluster would drop it; did you mean envFrom?',
    ],
  ])('%j: %s', (pool, warning) => {
    expect(warnings(pool)).toEqual([expect.stringContaining(warning)]);
  });

  test.each<object>([
    {},
    { labels: ['Two Words'] },
    { ...DIND, ...inTemplate({ initContainers: [{ name: 'dind', image: 'd' }] }) },
    inTemplate({
      activeDeadlineSeconds: 600_000,
      containers: [{ name: 'dind', image: 'd' }, { name: 'runner' }],
    }),
    inTemplate({}, { creationTimestamp: null, labels: { a: 'b' } }),
    inTemplate({
      nodeSelector: null,
      tolerations: null,
      containers: [{ name: 'runner', resources: { limits: null, claims: [{ name: 'c' }] } }],
    }),
    inTemplate({ tolerations: [{ key: 'a', operator: 'Exists', newer: null }], anything: null }),
  ])('%j needs none', (pool) => {
    expect(warnings(pool)).toEqual([]);
  });

  const GPU = { resources: { limits: { 'nvidia.com/gpu': 1 } } };
  const FOR_GPU =
    'Jobs with the labels linux go to gpu, which has nvidia.com/gpu, although plain fits them too: give plain fewer labels, or as many and a higher priority.';

  test.each<[string, object[], string[]]>([
    [
      'a pool with devices for its name',
      [poolOf('gpu', ['linux', 'gpu'], GPU), poolOf('plain', ['linux', 'x64'])],
      [FOR_GPU],
    ],
    [
      'a pool with devices for its few labels',
      [poolOf('gpu', ['linux', 'gpu'], GPU), poolOf('plain', ['linux', 'x64', 'b'])],
      [FOR_GPU],
    ],
    [
      'a pool with devices in its template',
      [
        poolOf('gpu', ['linux', 'gpu'], inTemplate({ containers: [{ name: 'runner', ...GPU }] })),
        poolOf('plain', ['linux', 'x64'], { priority: -1 }),
      ],
      [FOR_GPU],
    ],
    [
      'the first name',
      [poolOf('a', ['linux', 'arm64']), poolOf('b', ['linux', 'x64'])],
      [
        'Jobs with the labels linux go to a and not to b for its name alone: give one of the two a higher priority.',
      ],
    ],
    [
      'a priority',
      [poolOf('gpu', ['linux', 'gpu'], GPU), poolOf('plain', ['linux', 'x64'], { priority: 1 })],
      [],
    ],
    ['the fewest labels', [poolOf('a', ['linux']), poolOf('b', ['linux', 'x64'])], []],
    [
      'one of pools that all have devices',
      [poolOf('a', ['linux'], GPU), poolOf('b', ['linux', 'x64'], GPU)],
      [],
    ],
  ])('jobs that several pools fit and that go to %s (B4)', (_what, pools, expected) => {
    expect(warningsOf(pools)).toEqual(expected);
  });

  test('reports a runner group that two pools want in different ways (C7)', () => {
    expect(
      warningsOf([
        inGroup('a'),
        inGroup('b'),
        inGroup('c', { runnerGroup: 'paddock', runnerGroupVisibility: 'selected' }),
      ]),
    ).toEqual([
      'a and c want different settings for the runner group paddock: the first to make it decides.',
    ]);
    expect(
      warningsOf([
        inGroup('a', { publicRepositories: true }),
        inGroup('b', { registration: 'repository' }),
      ]),
    ).toEqual([]);
    const forApi = { repositories: ['acme/api'] };
    expect(warningsOf([inGroup('a'), inGroup('b', forApi)])).toContainEqual(
      'a and b want different settings for the runner group Paddock: the first to make it decides.',
    );
    expect(
      warningsOf([inGroup('a', { runnerGroupVisibility: 'selected' }), inGroup('b', forApi)]),
    ).toEqual([]);
  });

  test("'*' without a common cap, for entities can be multiplied (C4)", () => {
    const own = poolOf('a', ['x'], { registration: 'repository' });
    expect(allWarnings([own], { '*': {} })).toEqual([
      "'*' has no commonMaxWorkers: each entity of one person can have maxWorkers workers.",
    ]);
    expect(allWarnings([own], { '*': { commonMaxWorkers: 40 } })).toEqual([]);
    expect(allWarnings([own], { acme: {} })).toEqual([]);
  });

  test('pools that register at organisations, where one repository can take all of them (C4)', () => {
    const pools = [
      poolOf('a', ['x']),
      poolOf('b', ['y']),
      poolOf('c', ['z'], { registration: 'repository' }),
    ];
    const ofTeam = poolOf('d', ['w'], { repositories: ['acme/infra'], runnerGroup: 'infra' });
    expect(allWarnings([...pools, ofTeam], { acme: {} })).toEqual([
      'One repository can take all that its organisation may have of a, b: registration: repository, or a pool for each team, keeps repositories apart.',
    ]);
  });

  test.each<[object, string]>([
    [
      inTemplate({ hostNetwork: true }),
      'hostNetwork of its template, which gives jobs power over their node',
    ],
    [inTemplate({ hostPID: true }), 'hostPID of its template'],
    [
      inTemplate({ volumes: [{ name: 'sock', hostPath: { path: '/run' } }] }),
      'hostPath in the volume sock',
    ],
    [
      inTemplate({ containers: [{ name: 'runner', securityContext: { privileged: true } }] }),
      'privileged in the container runner',
    ],
    [
      inTemplate({ serviceAccountName: 'deployer' }),
      'the token of the service account deployer in its template, with which jobs speak',
    ],
    [
      inTemplate({ automountServiceAccountToken: true }),
      'the token of the service account default',
    ],
    [
      inTemplate({
        volumes: [
          { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
        ],
      }),
      "a service account's token in the volume token",
    ],
  ])('%j of a pool that serves strangers', (template, warning) => {
    const pool = { ...template, runnerGroup: 'own', allowUntrusted: true };
    const forAll =
      "and serves everyone who installs the App, because of '*' in entities: name entities, without a *, in entities of the pool.";
    expect(warnings(pool)).toEqual([expect.stringMatching(/^a has /)]);
    expect(warnings(pool)[0]).toContain(warning);
    expect(warnings(pool)[0]).toContain(forAll);
    expect(warnings({ ...pool, publicRepositories: true }, { acme: {} })[0]).toContain(
      'and serves public repositories',
    );
    expect(warnings(pool, { acme: {} })).toEqual([]);
    expect(warnings({ ...pool, entities: ['acme'] })).toEqual([]);
  });

  test('reports pools with the same labels for other entities: one of them gets no jobs (B4)', () => {
    const all = poolOf('all', ['x']);
    const some = poolOf('some', ['x'], { entities: ['acme'] });
    expect(warningsOf([all, some])).toEqual([
      'some gets no jobs: all has the same labels, comes first, and serves all entities.',
    ]);
    expect(warningsOf([all, { ...some, priority: 1 }])).toEqual([]);
    expect(warningsOf([some, poolOf('others', ['x'], { entities: ['beta'] })])).toEqual([]);
    expect(warningsOf([some, poolOf('others', ['x'], { entities: ['ac*'] })])).toEqual([
      expect.stringContaining('for its name alone'),
    ]);
  });
});
