import { describe, expect, test } from '@jest/globals';
import { templateWithKeys } from './pod-keys.ts';
import { templateImage } from './pod-template.ts';
import { poolsDocument } from './pools-document.ts';
import { devicesIn } from './resources.ts';
import { templateRules } from './template-rules.ts';

const POOL = { name: 'linux', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const problemsOf = (pool: object) =>
  poolsDocument
    .safeParse({ pools: [{ ...POOL, ...pool }], entities: {} })
    .error?.issues.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`);
const imageOf = (pool: object) =>
  poolsDocument.parse({ pools: [pool], entities: {} }).pools[0]?.image;

describe('a pool’s settings of its pods (H3, H4)', () => {
  test.each<[object, string]>([
    [
      { containerMode: 'kubernetes' },
      'containerMode: kubernetes is not supported yet: job containers that run as pods of their own come later',
    ],
    [
      { containerMode: { type: 'kubernetes-novolume' } },
      'containerMode: kubernetes-novolume is not supported yet: job containers that run as pods of their own come later',
    ],
    [
      { containerMode: { type: 'dind' } },
      'containerMode: must be none or dind, written without `type`',
    ],
    [{ containerMode: 'docker' }, 'containerMode: must be none or dind'],
    [{ containerMode: null }, 'containerMode: must be none or dind'],
    [{ proxy: {} }, 'proxy: needs http, https or both'],
    [
      { proxy: { http: 'proxy:3128' } },
      'proxy.http: must be an address such as http://proxy.example.com:3128',
    ],
    [
      { proxy: { https: { url: 'http://proxy:3128' } } },
      'proxy.https: must be an address such as http://proxy.example.com:3128, written without `url`',
    ],
    [
      { proxy: { http: 'http://me:word@proxy:3128' } },
      'proxy.http: must hold no user and password: set HTTPS_PROXY in the template, from a Secret, instead',
    ],
    [
      { proxy: { https: 'http://:word@proxy:3128' } },
      'proxy.https: must hold no user and password',
    ],
    [
      { caBundle: { configMap: 'ca', key: 'ca.pem' } },
      'caBundle.key: must be a key that ends in .crt',
    ],
    [{ template: { spec: { containers: [{ image: 'x' }] } } }, 'template.spec.containers.0.name: '],
    [
      { template: { spec: { containers: { runner: {} } } } },
      'template.spec.containers: Invalid input: expected array',
    ],
    [{ runnerGroupVisibility: 'public' }, 'runnerGroupVisibility: '],
    [
      { runnerGroupVisibility: 'private', publicRepositories: true },
      'runnerGroupVisibility: private keeps public repositories out, which publicRepositories lets in',
    ],
    [
      { template: { metadata: { labels: { a: true } } } },
      'template.metadata.labels.a: Invalid input: expected string',
    ],
  ])('%j: %s', (pool, problem) => {
    expect(problemsOf(pool)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    { containerMode: 'dind' },
    { proxy: { https: 'http://proxy:3128' } },
    { caBundle: { configMap: 'ca' } },
    { template: { spec: { nodeSelector: null, anything: { new: [1] } } } },
  ])('%j is right', (pool) => {
    expect(problemsOf(pool)).toBeUndefined();
  });

  test('the template’s runner may name the image, as in actions-runner-controller', () => {
    const { image: _image, ...bare } = POOL;
    const inTemplate = {
      ...bare,
      template: { spec: { containers: [{ name: 'runner', image: 'theirs:1' }] } },
    };
    expect(imageOf(inTemplate)).toBe('theirs:1');
    expect(imageOf({ ...inTemplate, image: 'ours:1' })).toBe('ours:1');
    expect(imageOf(bare)).toBe('ghcr.io/actions/actions-runner:latest');
    expect(imageOf({ ...bare, template: { spec: { containers: [{ name: 'runner' }] } } })).toBe(
      'ghcr.io/actions/actions-runner:latest',
    );
  });

  test('a template that a program wrote out is taken without its empty creationTimestamp', () => {
    const metadata = { creationTimestamp: null, labels: { a: 'b' } };
    const [stored] = poolsDocument.parse({
      pools: [{ ...POOL, template: { metadata } }],
      entities: {},
    }).pools;
    expect(stored?.template).toEqual({ metadata: { labels: { a: 'b' } } });
    expect(
      problemsOf({ template: { metadata: { creationTimestamp: '2026-11-22T00:00:00Z' } } }),
    ).toHaveLength(1);
  });

  test('a document that is stored and read again is the same', () => {
    const more = {
      containerMode: 'dind',
      proxy: { http: 'http://p:1' },
      caBundle: { configMap: 'ca' },
      template: { spec: { a: 1 } },
    };
    const document = poolsDocument.parse({ pools: [{ ...POOL, ...more }], entities: { '*': {} } });
    expect(poolsDocument.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test('a pool is stored with its defaults, and without other keys that are not used', () => {
    const [stored] = poolsDocument.parse({ pools: [POOL], entities: {} }).pools;
    expect(Object.keys(stored ?? {}).toSorted()).toEqual([
      'allowUntrusted',
      'containerMode',
      'image',
      'keepLogs',
      'labels',
      'maxWorkers',
      'maxWorkersPerRepository',
      'name',
      'namespace',
      'paused',
      'priority',
      'publicRepositories',
      'registration',
      'runnerGroup',
    ]);
  });
});

const placesOf = (pool: object): string[] =>
  (
    poolsDocument.safeParse({ pools: [{ ...POOL, ...pool }], entities: {} }).error?.issues ?? []
  ).map(({ path }) => path.slice(2).join('.'));
const withSpec = (spec: object): object => ({ template: { spec } });
const inContainer = (fields: object): object =>
  withSpec({ containers: [{ name: 'runner', ...fields }] });

describe('a template', () => {
  test.each([
    [
      inContainer({
        env: [{ name: 'A', value: 'b' }],
        volumeMounts: [{ name: 'work', mountPath: '/work' }],
      }),
      [],
    ],
    [inContainer({ env: [{ value: 'b' }] }), ['template.spec.containers.0.env.0.name']],
    [
      inContainer({ volumeMounts: [{ name: 'work' }] }),
      ['template.spec.containers.0.volumeMounts.0.mountPath'],
    ],
    [
      inContainer({ volumeMounts: [{ mountPath: '/work' }] }),
      ['template.spec.containers.0.volumeMounts.0.name'],
    ],
    [withSpec({ initContainers: [{ name: 'a' }, { name: 'a' }] }), ['template.spec.containers']],
    [
      withSpec({ containers: [{ name: 'a' }], initContainers: [{ name: 'a' }] }),
      ['template.spec.containers'],
    ],
    [withSpec({ initContainers: [{ name: 'runner' }] }), ['template.spec.containers']],
    [
      withSpec({ containers: [{ name: 'sidecar' }], initContainers: [{ name: 'runner' }] }),
      ['template.spec.containers'],
    ],
    [withSpec({ containers: [{ name: 'sidecar' }], initContainers: [{ name: 'setup' }] }), []],
  ])('%j is refused at %j', (pool, places) => {
    expect(placesOf(pool)).toEqual(places);
  });

  test.each(['containers', 'initContainers'])(
    'of a pool without logs puts none into the status of its pods from its %s',
    (list) => {
      const spec = {
        [list]: [{ name: 'setup', terminationMessagePolicy: 'FallbackToLogsOnError' }],
      };
      expect(placesOf({ ...withSpec(spec), keepLogs: false })).toEqual([
        `template.spec.${list}.0.terminationMessagePolicy`,
      ]);
      expect(placesOf({ ...withSpec(spec), keepLogs: true })).toEqual([]);
      expect(placesOf({ ...withSpec(spec), keepLogs: false, paused: 'no' })).toEqual([
        'paused',
        `template.spec.${list}.0.terminationMessagePolicy`,
      ]);
    },
  );

  test.each([
    [{ spec: { containers: [{ name: 'runner', image: 'a' }] } }, 'a'],
    [{ spec: { containers: [{ name: 'runner', image: '' }] } }, undefined],
    [{ spec: { containers: [{ name: 'runner', image: 7 }] } }, undefined],
    [{ spec: { containers: [{ name: 'sidecar', image: 'a' }] } }, undefined],
    [undefined, undefined],
  ])('%j gives the runner the image %j', (template, image) => {
    expect(templateImage(template)).toBe(image);
  });

  test('takes the resources of the pool into the runner’s container, and leaves its others and all else as they are (H3)', () => {
    const containers = [{ name: 'runner', workingDir: '/w' }, { name: 'sidecar' }];
    const resources = { limits: { memory: '1Gi' } };
    const [pool] = poolsDocument.parse({
      pools: [{ ...POOL, resources, template: { spec: { containers, hostname: 'x' } } }],
      entities: {},
    }).pools;
    expect(pool && templateWithKeys(pool)).toEqual({
      spec: {
        hostname: 'x',
        containers: [{ name: 'sidecar' }, { name: 'runner', workingDir: '/w', resources }],
      },
    });
    const [bare] = poolsDocument.parse({ pools: [{ ...POOL, resources }], entities: {} }).pools;
    expect(bare && templateWithKeys(bare)).toEqual({
      spec: { containers: [{ name: 'runner', resources }] },
    });
  });
});

test('devices are the limits with a domain that is not Kubernetes’ own', () => {
  expect(
    devicesIn({
      limits: { cpu: 1, 'nvidia.com/gpu': 1, 'kubernetes.io/x': 1 },
      requests: { 'amd.com/gpu': 1 },
    }),
  ).toEqual(['nvidia.com/gpu']);
  expect(devicesIn(undefined)).toEqual([]);
});

describe('the proxy of a pod', () => {
  test.each([
    [{ proxy: { http: 'http://proxy:3128', noProxy: ['internal'] } }, []],
    [{ proxy: { http: 'http://proxy:3128', noProxy: [''] } }, ['proxy.noProxy.0']],
    [{ proxy: { http: 'httpx://proxy:3128' } }, ['proxy.http']],
    [{ proxy: { http: 'xhttp://proxy:3128' } }, ['proxy.http']],
    [{ caBundle: { configMap: 'ca', key: 'a.crt' } }, []],
    [{ caBundle: { configMap: 'ca', key: 'a/b.crt' } }, ['caBundle.key']],
    [{ caBundle: { configMap: 'ca', key: 'a.crt.old' } }, ['caBundle.key']],
    [{ resources: { limits: { memory: '1Mi' } } }, []],
    [{ resources: { limits: { memory: '1Mi', 'hugepages-2Mi': '2Mi' } } }, []],
    [{ resources: { limits: { cpu: 1, 'hugepages-2Mi': '2Mi' } } }, []],
    [{ warm: [{ scope: 'acme', workers: 1 }] }, []],
    [{ warm: [{ scope: 'acme', workers: 0 }] }, ['warm.0.workers']],
  ])('%j is refused at %j', (pool, places) => {
    expect(placesOf(pool)).toEqual(places);
  });
});

const placesIn = (template: unknown): string[] =>
  (templateRules.safeParse(template).error?.issues ?? []).map(({ path }) => path.join('.'));

test.each([
  ['nothing at all', {}, []],
  [
    'fields of newer clusters',
    { spec: { schedulingGroup: { name: 'x' }, containers: [{ name: 'runner' }] } },
    [],
  ],
  ['a label with a space', { metadata: { labels: { a: 'b c' } } }, ['metadata.labels.a']],
  ['a node of no name', { spec: { nodeSelector: { zone: '-' } } }, ['spec.nodeSelector.zone']],
  [
    'a priority class of no name',
    { spec: { priorityClassName: 'High' } },
    ['spec.priorityClassName'],
  ],
  [
    'half a second',
    { spec: { terminationGracePeriodSeconds: 0.5 } },
    ['spec.terminationGracePeriodSeconds'],
  ],
  [
    'a tolerance of no effect',
    { spec: { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'Never' }] } },
    ['spec.tolerations.0.effect'],
  ],
  [
    'too much of nothing',
    { spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } },
    ['spec.containers.0.resources.limits.cpu'],
  ],
  [
    'the same at first',
    { spec: { initContainers: [{ resources: { limits: { cpu: 'x' } } }] } },
    ['spec.initContainers.0.resources.limits.cpu'],
  ],
])('a template with %s', (_, template, places) => {
  expect(placesIn(template)).toEqual(places);
});
