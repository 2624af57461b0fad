import { describe, expect, test } from '@jest/globals';
import { templateWithKeys } from './pod-keys.ts';
import { poolsDocument } from './pools-document.ts';

const POOL = { name: 'gpu', labels: ['gpu'], image: 'runner:1', namespace: 'runners' };
const problemsOf = (pool: object) =>
  poolsDocument
    .safeParse({ pools: [{ ...POOL, ...pool }], entities: {} })
    .error?.issues.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`);
const requests = (amounts: object) => ({ resources: { requests: amounts } });
const limits = (amounts: object) => ({ resources: { limits: amounts } });
const tolerating = (toleration: object) => ({ tolerations: [toleration] });

describe('a pool’s keys with Kubernetes’ names (H3)', () => {
  test.each<[object, string]>([
    [limits({ memory: '16GB' }), 'resources.limits.memory: must be a quantity'],
    [limits({ cpu: true }), 'resources.limits.cpu: must be a quantity'],
    [limits({ memory: 16 }), 'resources.limits.memory: is less than a mebibyte: write the unit'],
    [
      requests({ memory: '512m' }),
      'resources.requests.memory: is less than a mebibyte: write the unit',
    ],
    [limits({ gpu: 1 }), 'resources.limits.gpu: is no resource: there are cpu, memory'],
    [
      limits({ 'nvidia.com/gpu': '500m' }),
      'resources.limits.nvidia.com/gpu: must be a whole number',
    ],
    [limits({ 'Nvidia.com/gpu': 1 }), 'resources.limits.Nvidia.com/gpu: is no name of a resource'],
    [
      limits({ 'requests.nvidia.com/gpu': 1 }),
      'resources.limits.requests.nvidia.com/gpu: is no name of a resource',
    ],
    [
      requests({ 'nvidia.com/gpu': 1 }),
      'resources.requests.nvidia.com/gpu: needs the same amount in limits',
    ],
    [
      { resources: { requests: { 'nvidia.com/gpu': 1 }, limits: { 'nvidia.com/gpu': 2 } } },
      'resources.requests.nvidia.com/gpu: must be the amount in limits',
    ],
    [
      { resources: { requests: { cpu: '1500m' }, limits: { cpu: 1 } } },
      'resources.requests.cpu: is more than limits has of it',
    ],
    [
      requests({ cpu: 1, 'hugepages-2Mi': '2Mi' }),
      'resources.requests.hugepages-2Mi: needs the same amount in limits',
    ],
    [limits({ 'hugepages-2Mi': '2Mi' }), 'resources: huge pages need cpu or memory beside them'],
    [{ resources: { claims: [{ name: 'a' }] } }, "resources.claims: is the template's"],
    [{ nodeSelector: { 'two words': 'a' } }, "nodeSelector.two words: must be a label's key"],
    [{ nodeSelector: { 'a/b/c': 'a' } }, "nodeSelector.a/b/c: must be a label's key"],
    [{ nodeSelector: { disk: 'fast ssd' } }, "nodeSelector.disk: must be a label's value"],
    [{ nodeSelector: { [`${'d'.repeat(254)}/a`]: 'a' } }, "must be a label's key"],
    [
      tolerating({ key: 'two words', operator: 'Exists' }),
      "tolerations.0.key: must be a label's key",
    ],
    [
      tolerating({ key: true, operator: 'Exists' }),
      'tolerations.0.key: Invalid input: expected string',
    ],
    [
      tolerating({ key: 'spot', operator: 'exists' }),
      'tolerations.0.operator: must be Exists or Equal',
    ],
    [
      tolerating({ key: 'spot', effect: 'noSchedule' }),
      'tolerations.0.effect: must be NoSchedule, PreferNoSchedule or NoExecute',
    ],
    [
      tolerating({ effect: 'NoSchedule' }),
      'tolerations.0.operator: must be Exists where there is no key',
    ],
    [
      tolerating({ key: 'a', operator: 'Exists', value: 'b' }),
      'tolerations.0.value: must not be there with operator: Exists',
    ],
    [tolerating({ key: 'a', value: 'b c' }), "tolerations.0.value: must be a label's value"],
    [
      tolerating({ key: 'a', tolerationSeconds: 30 }),
      'tolerations.0.tolerationSeconds: needs effect: NoExecute',
    ],
    [{ priorityClassName: 'High_Prio' }, 'priorityClassName: must be a name in Kubernetes'],
    [{ terminationGracePeriodSeconds: -1 }, 'terminationGracePeriodSeconds: '],
    [
      { env: [] },
      "env: is the template's: write it in template.spec.containers, in the container named runner",
    ],
    [{ maxRunners: 5 }, 'maxRunners: is called maxWorkers here'],
  ])('%j: %s', (pool, problem) => {
    expect(problemsOf(pool)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    requests({ cpu: 4, memory: '16Gi', 'ephemeral-storage': '50Gi' }),
    limits({ cpu: '0.5', memory: 0, 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.5gb': '2' }),
    {
      resources: {
        requests: { cpu: '1000m', 'amd.com/gpu': '1' },
        limits: { cpu: 1, 'amd.com/gpu': 1 },
      },
    },
    { resources: {}, nodeSelector: {}, tolerations: [], terminationGracePeriodSeconds: 0 },
    {
      nodeSelector: { 'kubernetes.io/arch': 'arm64', disk: '' },
      priorityClassName: 'system-node-critical',
    },
    tolerating({ operator: 'Exists' }),
    tolerating({
      key: 'example.com/spot',
      operator: 'Equal',
      value: 'true',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    }),
    tolerating({ key: 'spot', effect: 'PreferNoSchedule' }),
  ])('%j is right, and is stored as it is written', (pool) => {
    expect(problemsOf(pool)).toBeUndefined();
    const document = poolsDocument.parse({ pools: [{ ...POOL, ...pool }], entities: {} });
    expect(document.pools[0]).toMatchObject(pool);
    expect(poolsDocument.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test('reports all problems at once, also settings that both pool and template have (H1)', () => {
    const problems = problemsOf({
      name: 'GPU',
      image: undefined,
      resources: {
        requests: { cpu: 'one', memory: '9Gi', 'nvidia.com/gpu': 1 },
        limits: { memory: '8Gi', gpu: 1 },
      },
      nodeSelector: { disk: 'ssd', 'a b': 'c' },
      tolerations: [
        'spot',
        { key: 'a b', operator: 'Exists', value: 'c' },
        { key: true, operator: 'Exists', value: 'c' },
      ],
      terminationGracePeriodSeconds: 5,
      template: { spec: { terminationGracePeriodSeconds: 6, nodeSelector: { disk: 'hdd' } } },
    });
    expect(problems?.map((problem) => problem.split(': ')[0]).toSorted()).toEqual([
      'name',
      'nodeSelector.a b',
      'nodeSelector.disk',
      'resources.limits.gpu',
      'resources.requests.cpu',
      'resources.requests.memory',
      'resources.requests.nvidia.com/gpu',
      'terminationGracePeriodSeconds',
      'tolerations.0',
      'tolerations.1.key',
      'tolerations.1.value',
      'tolerations.2.key',
      'tolerations.2.value',
    ]);
  });
});

describe('pool and template', () => {
  const runner = { name: 'runner', resources: { limits: { cpu: 2 } } };

  test.each<[object, object, string]>([
    [
      { priorityClassName: 'a' },
      { priorityClassName: 'a' },
      'priorityClassName: stands in template.spec.priorityClassName too',
    ],
    [
      { terminationGracePeriodSeconds: 0 },
      { terminationGracePeriodSeconds: 0 },
      'stands in template.spec.terminationGracePeriodSeconds too',
    ],
    [
      limits({ cpu: 1 }),
      { containers: [runner] },
      "resources: stands in the template's container runner too",
    ],
    [
      { nodeSelector: { a: 'b' } },
      { nodeSelector: { a: 'c' } },
      'nodeSelector.a: has another value in template.spec.nodeSelector',
    ],
    [
      tolerating({ key: 'a' }),
      { tolerations: { key: 'b' } },
      'template.spec.tolerations: must be a list',
    ],
    [
      { nodeSelector: { a: 'b' } },
      { nodeSelector: ['a'] },
      'template.spec.nodeSelector: must be a mapping',
    ],
    [
      { nodeSelector: { a: 'b' } },
      { nodeSelector: 'a' },
      'template.spec.nodeSelector: must be a mapping',
    ],
  ])('%j beside %j is refused where one only could count: %s', (pool, spec, problem) => {
    expect(problemsOf({ ...pool, template: { spec } })).toEqual([expect.stringContaining(problem)]);
  });

  test.each<[object, object]>([
    [{ nodeSelector: { a: 'b', c: 'd' } }, { nodeSelector: { a: 'b', e: 'f' } }],
    [
      limits({ cpu: 1 }),
      {
        containers: [
          { name: 'cache', resources: { limits: { cpu: 1 } } },
          { name: 'runner', resources: {} },
        ],
      },
    ],
    [
      { resources: {}, tolerations: [], nodeSelector: {} },
      { containers: [runner], tolerations: null, nodeSelector: null },
    ],
    [
      { nodeSelector: { a: 'b' }, ...tolerating({ key: 'a' }) },
      { nodeSelector: null, tolerations: null },
    ],
  ])('%j beside %j is right', (pool, spec) => {
    expect(problemsOf({ ...pool, template: { spec } })).toBeUndefined();
  });

  test('add up in the pod: labels of nodes, tolerations, and the rest in its place', () => {
    const template = {
      metadata: { labels: { team: 'a' } },
      spec: {
        nodeSelector: { a: '1' },
        tolerations: [{ key: 'x' }],
        hostNetwork: true,
        containers: [{ name: 'cache' }],
      },
    };
    const before = structuredClone(template);
    const resources = { limits: { 'nvidia.com/gpu': 1 } };
    const pool = {
      nodeSelector: { b: '2' },
      tolerations: [{ key: 'y' }],
      resources,
      priorityClassName: 'p',
      terminationGracePeriodSeconds: 5,
    };
    expect(templateWithKeys({ template, ...pool })).toEqual({
      metadata: { labels: { team: 'a' } },
      spec: {
        hostNetwork: true,
        nodeSelector: { a: '1', b: '2' },
        tolerations: [{ key: 'x' }, { key: 'y' }],
        priorityClassName: 'p',
        terminationGracePeriodSeconds: 5,
        containers: [{ name: 'cache' }, { name: 'runner', resources }],
      },
    });
    expect(template).toEqual(before);
  });

  test('leave in the pod what the template alone says', () => {
    const spec = {
      priorityClassName: 'p',
      terminationGracePeriodSeconds: 5,
      nodeSelector: { a: '1' },
      tolerations: [{ key: 'x' }],
      containers: [runner],
    };
    expect(templateWithKeys({ template: { spec } })).toEqual({ spec });
  });
});

test.each([
  ...['cpu', 'memory', 'requests', 'limits'].map(
    (key) => [{ [key]: 1 }, `${key}: must stand in resources`] as const,
  ),
  ...['cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'].map(
    (key) =>
      [
        { resources: { [key]: 1 } },
        `resources.${key}: must stand in requests, limits or both`,
      ] as const,
  ),
  ...['imagePullSecrets', 'serviceAccountName', 'topologySpreadConstraints', 'volumes'].map(
    (key) => [{ [key]: 1 }, `${key}: is the template's: write it as template.spec.${key}`] as const,
  ),
  ...['nodeSelector', 'tolerations', 'volumes'].map(
    (key) =>
      [
        { template: { [key]: 1 } },
        `template.${key}: must stand in spec: write it as template.spec.${key}`,
      ] as const,
  ),
])('names the right place for a misplaced key: %j', (pool, problem) => {
  expect(problemsOf(pool)).toEqual([problem]);
});
