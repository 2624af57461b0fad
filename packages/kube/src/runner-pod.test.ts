import { describe, expect, test } from '@jest/globals';
import type { PodTemplate } from '@paddock/domain/pools/pod-template';
import type { PodEvent } from './events.ts';
import { isPulling } from './is-pulling.ts';
import { identityOf } from './labels.ts';
import { runnerPod, runnerSecret } from './runner-pod.ts';
import {
  DEPRECATION,
  JIT_CONFIG,
  runnerOf,
  withTemplate,
  worker,
} from './scenes/runner-pod.scene.ts';
import { unknownPodFields } from './unknown-fields.ts';

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
        activeDeadlineSeconds: 7 * 86_400,
        containers: [
          {
            name: 'runner',
            image: 'ghcr.io/acme/runner:2',
            command: ['/home/runner/run.sh'],
            env: [JIT_CONFIG, DEPRECATION],
          },
        ],
      },
    });
  });

  test("a template's own fields are kept, also those that no library knows yet (H3)", () => {
    const { spec } = withTemplate({
      spec: {
        nodeSelector: { disk: 'ssd' },
        somethingNew: { deep: [1] },
        serviceAccountName: 'hooks',
        automountServiceAccountToken: true,
      },
    });
    expect(spec).toMatchObject({
      nodeSelector: { disk: 'ssd' },
      somethingNew: { deep: [1] },
      serviceAccountName: 'hooks',
    });
    expect(spec?.automountServiceAccountToken).toBe(true);
  });

  test.each<[string, PodTemplate, object]>([
    [
      'another restart policy',
      { spec: { restartPolicy: 'Always' } },
      { spec: { restartPolicy: 'Never' } },
    ],
    [
      'a deadline that a job can reach (P2)',
      { spec: { activeDeadlineSeconds: 3600 } },
      { spec: { activeDeadlineSeconds: 540_000 } },
    ],
    [
      'a JIT config of its own',
      {
        spec: {
          containers: [
            { name: 'runner', env: [{ name: 'ACTIONS_RUNNER_INPUT_JITCONFIG', value: 'x' }] },
          ],
        },
      },
      { spec: { containers: [{ env: [JIT_CONFIG, DEPRECATION] }] } },
    ],
    [
      'our labels',
      {
        metadata: {
          labels: { 'paddock.dev/instance': 'other', 'app.kubernetes.io/managed-by': 'helm' },
        },
      },
      {
        metadata: {
          labels: { 'paddock.dev/instance': 'abc123', 'app.kubernetes.io/managed-by': 'paddock' },
        },
      },
    ],
    [
      'an image beside the pool’s',
      { spec: { containers: [{ name: 'runner', image: 'elsewhere' }] } },
      { spec: { containers: [{ image: worker.image }] } },
    ],
  ])('a template cannot bring %s (H3)', (_what, template, expected) => {
    expect(withTemplate(template)).toMatchObject(expected);
  });

  test('a runner’s container that would start again does not (H3)', () => {
    const [runner] = withTemplate({
      spec: {
        containers: [
          { name: 'runner', restartPolicy: 'Always', restartPolicyRules: [{ action: 'Restart' }] },
        ],
      },
    }).spec?.containers ?? [undefined];
    expect(runner).not.toHaveProperty('restartPolicy');
    expect(runner).not.toHaveProperty('restartPolicyRules');
  });

  test.each<[string, PodTemplate, object]>([
    [
      'a longer deadline',
      { spec: { activeDeadlineSeconds: 900_000 } },
      { spec: { activeDeadlineSeconds: 900_000 } },
    ],
    [
      'a token',
      { spec: { automountServiceAccountToken: true } },
      { spec: { automountServiceAccountToken: true } },
    ],
    [
      'its own grace',
      { spec: { terminationGracePeriodSeconds: 3_600 } },
      { spec: { terminationGracePeriodSeconds: 3_600 } },
    ],
    [
      'command, resources and variables of the runner',
      {
        spec: {
          containers: [
            {
              name: 'runner',
              command: ['/start'],
              resources: { limits: { 'nvidia.com/gpu': 1 } },
              env: [{ name: 'A', value: 'b' }],
            },
          ],
        },
      },
      {
        spec: {
          containers: [
            {
              command: ['/start'],
              resources: { limits: { 'nvidia.com/gpu': 1 } },
              env: [JIT_CONFIG, DEPRECATION, { name: 'A' }],
            },
          ],
        },
      },
    ],
    [
      'a variable that we would set',
      { spec: { containers: [{ name: 'runner', env: [{ ...DEPRECATION, value: '0' }] }] } },
      { spec: { containers: [{ env: [JIT_CONFIG, { ...DEPRECATION, value: '0' }] }] } },
    ],
    [
      'its word on eviction',
      { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'false' } } },
      { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'false' } } },
    ],
    [
      'labels of its own',
      { metadata: { labels: { team: 'a' } } },
      { metadata: { labels: { team: 'a' } } },
    ],
    [
      'the same variable twice',
      {
        spec: {
          containers: [
            {
              name: 'runner',
              env: [
                { name: 'A', value: '1' },
                { name: 'A', value: '2' },
              ],
            },
          ],
        },
      },
      {
        spec: {
          containers: [
            {
              env: [JIT_CONFIG, DEPRECATION, { name: 'A', value: '1' }, { name: 'A', value: '2' }],
            },
          ],
        },
      },
    ],
  ])('a template may bring %s (H3)', (_what, template, expected) => {
    expect(withTemplate(template)).toMatchObject(expected);
  });
});

describe('runnerSecret', () => {
  test('it holds the JIT config, immutable, under the name that the pod refers to (C6)', () => {
    const secret = runnerSecret({ ...worker, jitConfig: 'jit-config-text' });
    expect(secret).toMatchObject({
      kind: 'Secret',
      immutable: true,
      metadata: { name: worker.name, namespace: worker.namespace },
    });
    const reference = runnerOf(runnerPod(worker))?.env?.[0]?.valueFrom?.secretKeyRef;
    expect(reference?.name).toBe(secret.metadata?.name);
    expect(Buffer.from(secret.data?.[reference?.key ?? ''] ?? '', 'base64').toString()).toBe(
      'jit-config-text',
    );
  });
});

describe('identityOf', () => {
  test('the marks of a pod or Secret give the facts they were made from (E6)', () => {
    const { instance, pool, entityId, scopeRepoId, madeForJobId, deliveryGuid } = worker;
    const expected = { instance, pool, entityId, scopeRepoId, madeForJobId, deliveryGuid };
    expect(identityOf(runnerPod(worker).metadata ?? {})).toEqual(expected);
    expect(identityOf(runnerSecret({ ...worker, jitConfig: 'x' }).metadata ?? {})).toEqual(
      expected,
    );
  });

  test.each([
    ['no labels at all', {}],
    ['a foreign manager', { 'app.kubernetes.io/managed-by': 'helm' }],
    ['an entity id that is no number', { 'paddock.dev/entity-id': '4x2' }],
    ['no scope', { 'paddock.dev/scope-repo-id': '' }],
  ])('an object with %s is not ours', (what, labels) => {
    const marks = runnerPod(worker).metadata?.labels ?? {};
    expect(
      identityOf({ labels: what === 'no labels at all' ? {} : { ...marks, ...labels } }),
    ).toBeUndefined();
  });
});

test.each<[unknown, ReturnType<typeof unknownPodFields>]>([
  [{ nodeSelctor: {} }, [{ path: 'nodeSelctor', meant: 'nodeSelector' }]],
  [
    { dockerdWithinRunnerContainer: true, env: [], image: 'i' },
    [
      { path: 'dockerdWithinRunnerContainer', meant: undefined },
      { path: 'env', meant: undefined },
      { path: 'image', meant: undefined },
    ],
  ],
  [
    {
      containers: [
        { name: 'a' },
        { name: 'b', imagePulPolicy: 'Always', securityContext: { capabilities: { dropp: [] } } },
      ],
    },
    [
      { path: 'containers[1].imagePulPolicy', meant: 'imagePullPolicy' },
      { path: 'containers[1].securityContext.capabilities.dropp', meant: 'drop' },
    ],
  ],
  [
    {
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerm: [] } },
      },
    },
    [
      {
        path: 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerm',
        meant: 'nodeSelectorTerms',
      },
    ],
  ],
  [
    { volumes: [{ name: 'a', emptyDir: { size: '1Gi' } }] },
    [{ path: 'volumes[0].emptyDir.size', meant: undefined }],
  ],
  [
    {
      nodeSelctor: null,
      nodeSelector: { anything: 'a' },
      overhead: { cpu: 1 },
      containers: [{ resources: { limits: { 'a.b/c': 1 } } }],
    },
    [],
  ],
  [
    {
      volumes: [
        {
          name: 'w',
          ephemeral: { volumeClaimTemplate: { metadata: { creationTimestamp: null }, spec: {} } },
        },
      ],
    },
    [],
  ],
  [undefined, []],
  ['text', []],
])('%j has the unknown fields %j (H1)', (spec, unknown) => {
  expect(unknownPodFields(spec)).toEqual(unknown);
});

const event = (
  reason: string,
  second: number,
  { source = 'kubelet', container = 'runner' } = {},
): PodEvent => ({
  type: 'Normal',
  reason,
  message: '',
  count: 1,
  lastAt: new Date(1_700_000_000_000 + second * 1_000),
  source,
  container,
});
const sidecar = { container: 'sidecar' };

describe('an image that is being pulled (C8)', () => {
  test.each<[string, readonly PodEvent[], boolean]>([
    ['nothing is known', [], false],
    ['the first pull', [event('Pulling', 1)], true],
    ['a pull that failed', [event('Pulling', 1), event('Failed', 3)], false],
    ['a pull that failed within its second', [event('Pulling', 1), event('Failed', 1)], false],
    [
      'a pull that begins in the second in which a sidecar’s failed',
      [event('Failed', 3, sidecar), event('Pulling', 3)],
      true,
    ],
    [
      'a pull that failed in the second in which a sidecar’s began',
      [event('Pulling', 1), event('Failed', 3), event('Pulling', 3, sidecar)],
      true,
    ],
    [
      'a sidecar that fails after the pull began',
      [event('Pulling', 3), event('Failed', 4, sidecar)],
      false,
    ],
    [
      'the pause before the next',
      [event('Pulling', 1), event('Failed', 3), event('BackOff', 14)],
      false,
    ],
    [
      'the second pull, of a large image',
      [event('Failed', 3), event('BackOff', 14), event('Pulling', 30)],
      true,
    ],
    ['it has come, and the container starts', [event('Failed', 3), event('Pulled', 90)], true],
    [
      'a sentence of another',
      [event('Failed', 3), event('Pulling', 30, { source: 'image-prefetcher' })],
      false,
    ],
  ])('%s', (_what, events, expected) => {
    expect(isPulling(events)).toBe(expected);
  });
});
