import { describe, expect, test } from '@jest/globals';
import { templateWithKeys } from './pod-keys.ts';
import { isOfficialImage, templateImage } from './pod-template.ts';
import {
  documentOf,
  parsedPool,
  problemsOf as problemsOfPools,
} from '../scenes/pools-document.scene.ts';
import { poolsDocument } from './pools-document.ts';

const imageOf = (pool: object) => parsedPool({ image: undefined, ...pool }).image;
const problemsOf = (pool: object): string[] =>
  problemsOfPools([pool]).map((problem) => problem.replace('pools.0.', ''));
const limits = (amounts: object) => ({ resources: { limits: amounts } });
const tolerating = (toleration: object) => ({ tolerations: [toleration] });
const withSpec = (spec: object): object => ({ template: { spec } });
const withMetadata = (metadata: object): object => ({ template: { metadata } });
const inContainer = (fields: object): object =>
  withSpec({ containers: [{ name: 'runner', ...fields }] });

describe('a pool’s settings of its pods (H3, H4)', () => {
  const LATER =
    'is not supported: leave containerMode out, or write dind for jobs that start containers';
  const NO_STRING = 'Invalid input: expected string';
  const MODE = 'containerMode';
  const CONTAINERS = 'template.spec.containers';

  test.each<[object, string]>([
    [limits({ cpu: true }), 'resources.limits.cpu: '],
    [{ resources: { claims: [{ name: 'a' }] } }, "resources.claims: is the template's"],
    [{ nodeSelector: { gpu: true } }, `nodeSelector.gpu: ${NO_STRING}`],
    [tolerating({ key: true }), `tolerations.0.key: ${NO_STRING}`],
    [tolerating({ operator: 'exists' }), 'tolerations.0.operator: must be Exists or Equal'],
    [
      tolerating({ effect: 'noSchedule' }),
      'tolerations.0.effect: must be NoSchedule, PreferNoSchedule or NoExecute',
    ],
    [{ terminationGracePeriodSeconds: -1 }, 'terminationGracePeriodSeconds: '],
    [{ containerMode: 'kubernetes' }, `${MODE}: kubernetes ${LATER}`],
    [{ containerMode: { type: 'kubernetes-novolume' } }, `${MODE}: kubernetes-novolume ${LATER}`],
    [
      { containerMode: { type: 'dind' } },
      `${MODE}: must be none or dind, or be left out: written without \`type\``,
    ],
    [{ containerMode: 'docker' }, `${MODE}: must be none or dind, or be left out`],
    [{ containerMode: null }, `${MODE}: must be none or dind, or be left out`],
    [{ proxy: {} }, 'proxy: needs http, https or both'],
    ...['proxy:3128', 'httpx://proxy:3128', 'xhttp://proxy:3128'].map((http): [object, string] => [
      { proxy: { http } },
      'proxy.http: must be an address such as http://proxy',
    ]),
    [{ proxy: { http: 'http://proxy:3128', noProxy: [''] } }, 'proxy.noProxy.0: '],
    [
      { proxy: { https: { url: 'http://proxy:3128' } } },
      'proxy.https: must be an address such as http://proxy.example.com:3128, written without `url`',
    ],
    [
      { proxy: { http: 'http://me:word@proxy:3128' } },
      'proxy.http: must hold no user and password: set HTTPS_PROXY in the template, from a Secret, instead',
    ],
    [{ proxy: { https: 'http://:word@proxy' } }, 'proxy.https: must hold no user and password'],
    ...['ca.pem', 'a/b.crt', 'a.crt.old'].map((key): [object, string] => [
      { caBundle: { configMap: 'ca', key } },
      'caBundle.key: must be a key that ends in .crt',
    ]),
    [{ warm: [{ scope: 'acme', workers: 0 }] }, 'warm.0.workers: '],
    [{ runnerGroupVisibility: 'public' }, 'runnerGroupVisibility: '],
    [
      { runnerGroupVisibility: 'private', publicRepositories: true },
      'runnerGroupVisibility: private keeps public repositories out, which publicRepositories lets in',
    ],
    [
      { nodeSelector: { 'kubernetes.io/os': 'windows' }, containerMode: 'dind' },
      `${MODE}: dind is a daemon for Linux`,
    ],
    [
      { ...withSpec({ os: { name: 'windows' } }), caBundle: { configMap: 'ca' } },
      'caBundle: is mounted where Linux reads it',
    ],
    [withSpec({ containers: [{ image: 'x' }] }), `${CONTAINERS}.0.name: `],
    [withSpec({ containers: { runner: {} } }), `${CONTAINERS}: Invalid input: expected array`],
    [inContainer({ env: [{ value: 'b' }] }), `${CONTAINERS}.0.env.0.name: `],
    [inContainer({ volumeMounts: [{ name: 'w' }] }), `${CONTAINERS}.0.volumeMounts.0.mountPath: `],
    [inContainer({ volumeMounts: [{ mountPath: '/w' }] }), `${CONTAINERS}.0.volumeMounts.0.name: `],
    [withMetadata({ labels: { a: true } }), `template.metadata.labels.a: ${NO_STRING}`],
    [withMetadata({ creationTimestamp: '2026-11-22' }), 'template.metadata'],
  ])('%j: %s', (pool, problem) => {
    expect(problemsOf(pool)).toEqual([expect.stringContaining(problem)]);
  });

  test.each<object>([
    {
      resources: {
        requests: { cpu: 4, memory: '16Gi', 'ephemeral-storage': '50Gi' },
        limits: { cpu: '0.5', 'nvidia.com/gpu': 1 },
      },
    },
    { resources: {}, nodeSelector: {}, tolerations: [], terminationGracePeriodSeconds: 0 },
    { nodeSelector: { 'kubernetes.io/arch': 'arm64', disk: '' }, priorityClassName: 'high' },
    { nodeSelector: { 'kubernetes.io/os': 'windows' }, proxy: { http: 'http://proxy:3128' } },
    tolerating({ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }),
    tolerating({ key: 'spot', operator: 'Equal', value: 'true', effect: 'PreferNoSchedule' }),
    { containerMode: 'dind' },
    { proxy: { https: 'http://proxy:3128', noProxy: ['internal'] } },
    { caBundle: { configMap: 'ca' } },
    { caBundle: { configMap: 'ca', key: 'a.crt' } },
    { warm: [{ scope: 'acme', workers: 1 }] },
    withSpec({ nodeSelector: null, anything: { new: [1] } }),
    inContainer({
      env: [{ name: 'A', value: 'b' }],
      volumeMounts: [{ name: 'w', mountPath: '/w' }],
    }),
  ])('%j is right, and is stored as it is written', (pool) => {
    expect(problemsOf(pool)).toEqual([]);
    const document = documentOf([pool]);
    expect(document.pools[0]).toMatchObject(pool);
    expect(poolsDocument.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test('a pool is stored with its defaults, and without other keys that are not used', () => {
    expect(Object.keys(parsedPool({})).toSorted().join(' ')).toBe(
      'allowUntrusted containerMode image keepLogs labels maxWorkers maxWorkersPerRepository name namespace paused priority publicRepositories registration runnerGroup',
    );
  });

  test('a template that a program wrote out is taken without its empty creationTimestamp', () => {
    const metadata = { creationTimestamp: null, labels: { a: 'b' } };
    expect(parsedPool(withMetadata(metadata)).template).toEqual({
      metadata: { labels: { a: 'b' } },
    });
  });

  test.each(['containers', 'initContainers'])(
    'without logs, no template puts one into the status of its pods from its %s, whatever else is wrong',
    (list) => {
      const pool = withSpec({
        [list]: [
          { name: 'setup', terminationMessagePolicy: 'FallbackToLogsOnError' },
          { name: 'plain', terminationMessagePolicy: 'File' },
        ],
      });
      const place = `template.spec.${list}.0.terminationMessagePolicy: `;
      const refused = [expect.stringContaining(place)];
      expect(problemsOf({ ...pool, keepLogs: false })).toEqual(refused);
      expect(problemsOf({ ...pool, keepLogs: true })).toEqual([]);
      expect(problemsOf({ ...pool, keepLogs: false, paused: 'no' })).toEqual([
        expect.stringContaining('paused: '),
        ...refused,
      ]);
    },
  );
});

test.each<[object, string]>([
  ...['cpu', 'memory', 'requests', 'limits'].map((key): [object, string] => [
    { [key]: 1 },
    `${key}: must stand in resources`,
  ]),
  ...['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'].map((key): [object, string] => [
    { resources: { [key]: 1 } },
    `resources.${key}: must stand in requests, limits or both`,
  ]),
  ...['affinity', 'imagePullSecrets', 'topologySpreadConstraints'].map((key): [object, string] => [
    { [key]: 1 },
    `${key}: is the template's: write it as template.spec.${key}`,
  ]),
  ...['nodeSelector', 'tolerations', 'volumes'].map((key): [object, string] => [
    { template: { [key]: 1 } },
    `template.${key}: must stand in spec: write it as template.spec.${key}`,
  ]),
  [
    { env: [] },
    "env: is the template's: write it in template.spec.containers, in the container named runner",
  ],
  [{ maxRunners: 5 }, 'maxRunners: is called maxWorkers here, a key of a pool'],
])('names the right place for a misplaced key: %j', (pool, problem) => {
  expect(problemsOf(pool)).toEqual([problem]);
});

describe('the pod of a pool with a template (H3)', () => {
  const runner = { name: 'runner', workingDir: '/w', resources: { limits: { cpu: 2 } } };
  const spec = {
    hostNetwork: true,
    nodeSelector: { a: '1', c: '3' },
    tolerations: [{ key: 'x' }],
    priorityClassName: 'theirs',
    containers: [runner, { name: 'cache' }],
  };

  test('has the pool’s own keys, to which only labels of nodes and tolerations add', () => {
    const template = { metadata: { labels: { team: 'a' } }, spec };
    const before = structuredClone(template);
    const resources = { limits: { 'nvidia.com/gpu': 1 } };
    const pool = {
      nodeSelector: { a: '2', b: '2' },
      tolerations: [{ key: 'y' }],
      resources,
      priorityClassName: 'p',
      terminationGracePeriodSeconds: 5,
    };
    expect(templateWithKeys({ template, ...pool })).toEqual({
      metadata: { labels: { team: 'a' } },
      spec: {
        hostNetwork: true,
        nodeSelector: { a: '2', b: '2', c: '3' },
        tolerations: [{ key: 'x' }, { key: 'y' }],
        priorityClassName: 'p',
        terminationGracePeriodSeconds: 5,
        containers: [{ name: 'cache' }, { ...runner, resources }],
      },
    });
    expect(template).toEqual(before);
    expect(templateWithKeys({ resources }).spec?.containers).toEqual([
      { name: 'runner', resources },
    ]);
  });

  test('has what the template alone says where the pool says nothing', () => {
    const empty = { nodeSelector: {}, tolerations: [], resources: {} };
    expect(templateWithKeys({ template: { spec }, ...empty })).toEqual({ spec });
  });

  test.each<[object | undefined, string | undefined]>([
    [inContainer({ image: 'a' }), 'a'],
    [inContainer({ image: '' }), undefined],
    [inContainer({ image: 7 }), undefined],
    [withSpec({ containers: [{ name: 'sidecar', image: 'a' }] }), undefined],
    [{}, undefined],
  ])('%j gives the runner the image %j', (pool, image) => {
    expect(templateImage((pool as { template?: object }).template)).toBe(image);
  });

  test('has the image of the pool, else the one of the template’s runner, else the official one', () => {
    const inTemplate = inContainer({ image: 'theirs:1' });
    expect(imageOf(inTemplate)).toBe('theirs:1');
    expect(imageOf({ ...inTemplate, image: 'ours:1' })).toBe('ours:1');
    expect(imageOf({})).toBe('ghcr.io/actions/actions-runner:latest');
    expect(imageOf(inContainer({}))).toBe('ghcr.io/actions/actions-runner:latest');
  });
});

test.each([
  ['ghcr.io/actions/actions-runner', true],
  ['ghcr.io/actions/actions-runner:2.336.0', true],
  ['mirror.example.com/ghcr/actions/actions-runner@sha256:abc', true],
  ['actions/actions-runner:latest', true],
  ['ghcr.io/acme/actions-runner:1', false],
  ['ghcr.io/transactions/actions-runner:1', false],
  ['ghcr.io/actions/actions-runner-dind:1', false],
])('%s is the official image: %s', (image, isOfficial) => {
  expect(isOfficialImage(image)).toBe(isOfficial);
});
