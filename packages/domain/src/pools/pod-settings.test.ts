import { describe, expect, test } from '@jest/globals';
import { poolsDocument } from './pools-document.ts';

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
    [
      { template: { spec: { containers: [{ name: 'runner' }, { name: 'runner' }] } } },
      'template.spec.containers: two containers are named runner',
    ],
    [
      { template: { spec: { initContainers: [{ name: 'runner' }] } } },
      'template.spec.containers: two containers are named runner',
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
