import { describe, expect, test } from '@jest/globals';
import { templateWithKeys } from './pod-keys.ts';
import { isOfficialImage, templateImage } from './pod-template.ts';
import {
  documentOf,
  parsedPool,
  problemsOf as problemsOfPools,
} from '../scenes/pools-document.scene.ts';
import { TAKEN_POOLS } from '../scenes/refused-files.scene.ts';
import { poolsDocument } from './pools-document.ts';

const imageOf = (pool: object) => parsedPool({ image: undefined, ...pool }).image;
const problemsOf = (pool: object): string[] =>
  problemsOfPools([pool]).map((problem) => problem.replace('pools.0.', ''));
const withSpec = (spec: object): object => ({ template: { spec } });
const withMetadata = (metadata: object): object => ({ template: { metadata } });
const inContainer = (fields: object): object =>
  withSpec({ containers: [{ name: 'runner', ...fields }] });

describe('a pool’s settings of its pods (H3, H4)', () => {
  test.each(TAKEN_POOLS)('%j is right, and is stored as it is written', (pool) => {
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
