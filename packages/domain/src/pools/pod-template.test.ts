import { describe, expect, test } from '@jest/globals';
import { templateWithKeys } from './pod-keys.ts';
import { templateImage } from './pod-template.ts';
import { poolsDocument } from './pools-document.ts';
import { devicesIn } from './resources.ts';

const POOL = { name: 'linux', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
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
