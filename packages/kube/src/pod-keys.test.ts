import { describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { runnerPod } from './runner-pod.ts';

/**
 * Of another image a template's runner keeps its own command, which a pool's keys do not ask for.
 */
const image = 'ghcr.io/actions/actions-runner:latest';

/** The pod of a pool, as the scheduler makes it. */
function podOf(written: object): ReturnType<typeof runnerPod> {
  const content = {
    pools: [{ name: 'gpu', labels: ['gpu'], image, namespace: 'runners', ...written }],
    entities: {},
  };
  const [pool] = poolsDocument.parse(content).pools;
  if (pool === undefined) throw new Error('There is no pool in the document.');
  return runnerPod({
    ...pool,
    name: 'pdk-i-1',
    instance: 'i',
    pool: pool.name,
    entityId: 42,
    scopeRepoId: 0,
  });
}

const resources = {
  requests: { cpu: 4, memory: '16Gi' },
  limits: { memory: '16Gi', 'nvidia.com/gpu': 1 },
};
const places = {
  nodeSelector: { accelerator: 'l4' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  priorityClassName: 'builds',
  terminationGracePeriodSeconds: 3_600,
};
const whole = { resources, ...places };

describe('a pod made from the pool’s keys with Kubernetes’ names (H3)', () => {
  test.each<[object]>([
    [{}],
    [{ containerMode: 'dind' }],
    [{ containerMode: 'dind', proxy: { http: 'http://proxy:1' }, caBundle: { configMap: 'ca' } }],
  ])('is the pod of a template that says the same, beside %j', (more) => {
    const template = { spec: { ...places, containers: [{ name: 'runner', resources }] } };
    expect(podOf({ ...more, ...whole })).toEqual(podOf({ ...more, template }));
    expect(podOf({ ...more, ...whole }).spec).toMatchObject({
      ...places,
      containers: [{ name: 'runner', resources }],
    });
  });

  test('has the settings of pool and template', () => {
    const template = {
      metadata: { labels: { team: 'research' } },
      spec: {
        nodeSelector: { zone: 'b' },
        tolerations: [{ key: 'spot' }],
        containers: [{ name: 'runner', env: [{ name: 'A', value: '1' }] }],
      },
    };
    const { metadata, spec } = podOf({ ...whole, template });
    expect(metadata?.labels).toMatchObject({ team: 'research' });
    expect(spec?.nodeSelector).toEqual({ zone: 'b', accelerator: 'l4' });
    expect(spec?.tolerations).toEqual([{ key: 'spot' }, ...places.tolerations]);
    expect(spec?.containers[0]).toMatchObject({
      resources,
      env: expect.arrayContaining([{ name: 'A', value: '1' }]),
    });
  });

  test('gives its resources to the runner alone, not to the Docker daemon or a sidecar', () => {
    const { spec } = podOf({
      ...whole,
      containerMode: 'dind',
      template: { spec: { containers: [{ name: 'cache', image: 'c:1' }] } },
    });
    expect(spec?.initContainers?.map(({ name }) => name)).toEqual([
      'init-dind-externals',
      'dind',
      'cache',
    ]);
    for (const container of spec?.initContainers ?? [])
      expect(container).not.toHaveProperty('resources');
  });

  test('is the same without any of them, also if they are empty', () => {
    const empty = { resources: {}, nodeSelector: {}, tolerations: [] };
    expect(podOf(empty)).toEqual(podOf({}));
    const template = { spec: { ...places, containers: [{ name: 'runner', resources }] } };
    expect(podOf({ ...empty, template })).toEqual(podOf({ template }));
  });
});
