import { describe, expect, test } from '@jest/globals';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { warningsAbout } from './warnings.ts';

const POOL = { name: 'a', labels: ['x'], image: 'own:1', namespace: 'n' };
/** It serves named entities only. */
const DIND = { containerMode: 'dind', runnerGroup: 'docker', entities: ['acme'] };
const allWarnings = (pools: object[], entities: object = { '*': {} }) => {
  const written = { github: { apps: [{ id: 1 }] }, pools, entities };
  return [...warningsAbout(configFileToLoad.parse(written), written)];
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
describe('settings that are valid but probably a mistake', () => {
  test.each<[object, string]>([
    [
      inTemplate({ containers: [{ name: 'Runner' }, { name: 'cache' }] }),
      'a has no container named runner in its template: Runner, cache will',
    ],
    [
      inTemplate({ containers: [{ name: 'runner', image: 'other:1' }] }),
      'a uses its own image own:1, not other:1',
    ],
    [{ image: undefined }, 'a names no image: it runs ghcr.io/actions/actions-runner:latest.'],
    [
      { ...DIND, ...inTemplate({ containers: [{ name: 'dind', image: 'd' }] }) },
      'a drops the container dind of its template, since containerMode: dind adds one: change that as initContainers[dind].',
    ],
    [
      {
        image: 'ghcr.io/actions/actions-runner:2',
        nodeSelector: { 'kubernetes.io/os': 'windows' },
      },
      'a is for nodes with Windows, and its image ghcr.io/actions/actions-runner:2 is for Linux',
    ],
    [
      inTemplate({
        os: { name: 'windows' },
        containers: [{ name: 'runner', command: ['/home/runner/run.sh'] }],
      }),
      'a is for nodes with Windows, and the command /home/runner/run.sh of its runner is a path of',
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
      inTemplate({ containers: [{ name: 'runner', envfrom: [] }] }),
      'a: template.spec.containers[0].envfrom is no field of a PodSpec, so the cluster would drop it; did you mean envFrom?',
    ],
  ])('%j: %s', (pool, warning) => {
    expect(warnings(pool)).toEqual([expect.stringContaining(warning)]);
  });

  test.each<object>([
    {},
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

  test.each<[object[], object, string[]]>([
    [
      [poolOf('a', ['x'], { maxWorkers: 71 }), poolOf('b', ['y'], { maxWorkers: 70 })],
      { acme: { maxWorkers: 50 }, 'id:7': {} },
      ['a never has its maxWorkers of 71: the entities that it serves may have 70 in all.'],
    ],
    [
      [poolOf('a', ['x'], { maxWorkers: 60, entities: ['acme'] })],
      { acme: { maxWorkers: 50 }, lab: { maxWorkers: null } },
      ['a never has its maxWorkers of 60: the entities that it serves may have 50 in all.'],
    ],
    [[poolOf('a', ['x'], { maxWorkers: 60 })], { acme: {}, '*': {} }, []],
    [
      [
        poolOf('a', ['x'], { maxWorkers: 9, warm: [{ scope: 'Acme', workers: 10 }] }),
        poolOf('b', ['y'], { warm: [{ scope: 'acme', workers: 11 }] }),
      ],
      { acme: {} },
      [
        'a is to keep 10 workers warm, and may have 9.',
        'acme is to have 21 warm workers, and its maxWorkers is 20.',
      ],
    ],
  ])('%j with %j: caps that leave no room (C2, C10)', (pools, entities, said) => {
    expect(warningsOf(pools, entities)).toEqual(said);
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
});
