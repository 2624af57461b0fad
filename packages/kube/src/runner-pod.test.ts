import { describe, expect, test } from '@jest/globals';
import { identityOf, instanceSelector } from './labels.ts';
import { runnerPod, runnerSecret, type RunnerPodSpec, type RunnerPodTemplate } from './runner-pod.ts';

const worker: RunnerPodSpec = {
  name: 'pdk-abc123-1',
  namespace: 'runners',
  instance: 'abc123',
  pool: 'linux-large',
  image: 'ghcr.io/acme/runner:2',
  entityId: 42,
  scopeRepoId: 0,
  madeForJobId: 7_000_000_001,
  deliveryGuid: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
};

const withTemplate = (template: RunnerPodTemplate) => runnerPod({ ...worker, template });
const runnerOf = (pod: ReturnType<typeof runnerPod>) => pod.spec?.containers.find(({ name }) => name === 'runner');

describe('runnerPod', () => {
  test('without a template it is the whole pod', () => {
    expect(runnerPod(worker)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'pdk-abc123-1',
        namespace: 'runners',
        labels: {
          'app.kubernetes.io/managed-by': 'paddock',
          'paddock.dev/instance': 'abc123',
          'paddock.dev/pool': 'linux-large',
          'paddock.dev/entity-id': '42',
          'paddock.dev/scope-repo-id': '0',
        },
        annotations: {
          'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
          'karpenter.sh/do-not-disrupt': 'true',
          'paddock.dev/delivery-guid': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
          'paddock.dev/made-for-job-id': '7000000001',
        },
      },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        restartPolicy: 'Never',
        activeDeadlineSeconds: 6 * 86_400,
        containers: [
          {
            name: 'runner',
            image: 'ghcr.io/acme/runner:2',
            command: ['/home/runner/run.sh'],
            env: [
              { name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', valueFrom: { secretKeyRef: { name: 'pdk-abc123-1', key: 'jitconfig' } } },
              { name: 'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE', value: '1' },
            ],
          },
        ],
      },
    });
  });

  test("a template's own fields are kept, also those that no library knows yet (H3)", () => {
    const { spec } = withTemplate({
      spec: { nodeSelector: { disk: 'ssd' }, somethingNew: { deep: [1] }, serviceAccountName: 'hooks', automountServiceAccountToken: true },
    });
    expect(spec).toMatchObject({ nodeSelector: { disk: 'ssd' }, somethingNew: { deep: [1] }, serviceAccountName: 'hooks' });
    expect(spec?.automountServiceAccountToken).toBe(true);
  });

  test('the container named runner is completed in its place, the others stay as they are (H3)', () => {
    const sidecar = { name: 'dind', image: 'docker:dind' };
    const runner = {
      name: 'runner',
      command: ['/start'],
      resources: { limits: { cpu: '2' } },
      env: [{ name: 'DOCKER_HOST', value: 'unix:///x' }],
    };
    const pod = withTemplate({ spec: { containers: [sidecar, runner] } });
    expect(pod.spec?.containers[0]).toEqual(sidecar);
    expect(pod.spec?.containers[1]).toMatchObject({
      name: 'runner',
      image: worker.image,
      command: ['/start'],
      resources: runner.resources,
    });
    expect(runnerOf(pod)?.env?.map(({ name }) => name)).toEqual([
      'ACTIONS_RUNNER_INPUT_JITCONFIG',
      'ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE',
      'DOCKER_HOST',
    ]);
    expect(withTemplate({ spec: { containers: [sidecar] } }).spec?.containers.map(({ name }) => name)).toEqual(['runner', 'dind']);
  });

  test.each<[string, RunnerPodTemplate]>([
    ['another restart policy', { spec: { restartPolicy: 'Always' } }],
    ['a deadline that a job can reach (P2)', { spec: { activeDeadlineSeconds: 3600 } }],
    ['its own JIT config', { spec: { containers: [{ name: 'runner', env: [{ name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', value: 'x' }] }] } }],
    ['our labels', { metadata: { labels: { 'paddock.dev/instance': 'other', 'app.kubernetes.io/managed-by': 'helm' } } }],
    ['an image beside the pool’s', { spec: { containers: [{ name: 'runner', image: 'elsewhere' }] } }],
  ])('a template cannot bring %s', (_what, template) => {
    const pod = withTemplate(template);
    expect(pod.spec?.restartPolicy).toBe('Never');
    expect(pod.spec?.activeDeadlineSeconds).toBeGreaterThan(5 * 86_400 + 43_200 - 1);
    expect(runnerOf(pod)?.image).toBe(worker.image);
    expect(pod.metadata?.labels).toMatchObject({ 'paddock.dev/instance': 'abc123', 'app.kubernetes.io/managed-by': 'paddock' });
    const jitConfigs = runnerOf(pod)?.env?.filter(({ name }) => name === 'ACTIONS_RUNNER_INPUT_JITCONFIG');
    expect(jitConfigs).toEqual([
      { name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', valueFrom: { secretKeyRef: { name: worker.name, key: 'jitconfig' } } },
    ]);
  });

  test('a template may decide about eviction and keep its own labels', () => {
    const { metadata } = withTemplate({ metadata: { labels: { team: 'a' }, annotations: { 'karpenter.sh/do-not-disrupt': 'false' } } });
    expect(metadata?.labels?.['team']).toBe('a');
    expect(metadata?.annotations?.['karpenter.sh/do-not-disrupt']).toBe('false');
  });

  test('building a pod leaves the template as it was', () => {
    const template = Object.freeze({ spec: Object.freeze({ containers: Object.freeze([Object.freeze({ name: 'runner', env: [] })]) }) });
    expect(withTemplate(template)).toEqual(withTemplate(template));
  });
});

describe('runnerSecret', () => {
  test('it holds the JIT config, immutable, under the name that the pod refers to (C6)', () => {
    const secret = runnerSecret({ ...worker, jitConfig: 'jit-config-text' });
    expect(secret).toMatchObject({ kind: 'Secret', immutable: true, metadata: { name: worker.name, namespace: worker.namespace } });
    const reference = runnerOf(runnerPod(worker))?.env?.[0]?.valueFrom?.secretKeyRef;
    expect(reference?.name).toBe(secret.metadata?.name);
    expect(Buffer.from(secret.data?.[reference?.key ?? ''] ?? '', 'base64').toString()).toBe('jit-config-text');
  });
});

describe('identityOf', () => {
  test('what the marks of a pod or Secret say is what they were made from (E6)', () => {
    const { instance, pool, entityId, scopeRepoId, madeForJobId, deliveryGuid } = worker;
    const expected = { instance, pool, entityId, scopeRepoId, madeForJobId, deliveryGuid };
    expect(identityOf(runnerPod(worker).metadata ?? {})).toEqual(expected);
    expect(identityOf(runnerSecret({ ...worker, jitConfig: 'x' }).metadata ?? {})).toEqual(expected);
  });

  test.each([
    ['no labels at all', {}],
    ['a foreign manager', { 'app.kubernetes.io/managed-by': 'helm' }],
    ['an entity id that is no number', { 'paddock.dev/entity-id': '4x2' }],
    ['no scope', { 'paddock.dev/scope-repo-id': '' }],
  ])('an object with %s is not ours', (what, labels) => {
    const marks = runnerPod(worker).metadata?.labels ?? {};
    expect(identityOf({ labels: what === 'no labels at all' ? {} : { ...marks, ...labels } })).toBeUndefined();
  });

  test('the selector names the manager and the instance (A8)', () => {
    expect(instanceSelector('abc123')).toBe('app.kubernetes.io/managed-by=paddock,paddock.dev/instance=abc123');
  });
});
