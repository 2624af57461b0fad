import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { callJson, objectPath } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { failureOf } from './scenes/contract-parts.scene.ts';
import { createPod } from './pods.ts';
import { runnerPod } from './runner-pod.ts';

const assets = process.env['KUBEBUILDER_ASSETS'];
const without = assets === undefined || assets === '';

const POOL = { name: 'gpu', labels: ['gpu'], image: 'example.test/runner:1', namespace: 'default' };
const GPU = 'nvidia.com/gpu';
const tolerating = (toleration: object) => ({ tolerations: [toleration] });
const isRead = (keys: object) =>
  poolsDocument.safeParse({ pools: [{ ...POOL, ...keys }], entities: {} }).success;
const limits = (amounts: object) => ({ resources: { limits: amounts } });
const requests = (amounts: object) => ({ resources: { requests: amounts } });

/** Right ones and wrong ones; which is which, the API server says. */
const TRIED: object[] = [
  limits({ cpu: 2, memory: '16Gi', 'ephemeral-storage': '10G', [GPU]: 1 }),
  limits({ cpu: '.5', memory: '1.5Gi' }),
  limits({ cpu: '2E2', memory: '1e9' }),
  limits({ cpu: '+1', memory: '1.G' }),
  limits({ cpu: 1e-3, [GPU]: '1000m' }),
  limits({ memory: 0, 'kubernetes.io/odd': '0.5' }),
  limits({ memory: '16GB' }),
  limits({ memory: '1K' }),
  limits({ memory: '1 Gi' }),
  limits({ cpu: '-1' }),
  limits({ cpu: '' }),
  limits({ gpu: 1 }),
  limits({ [GPU]: '500m' }),
  limits({ 'Nvidia.com/gpu': 1 }),
  limits({ 'requests.nvidia.com/gpu': 1 }),
  limits({ 'nvidia.com/': 1 }),
  limits({ 'hugepages-2Mi': '4Mi', cpu: 1 }),
  limits({ 'hugepages-2Mi': '4Mi' }),
  requests({ [GPU]: 1 }),
  requests({ cpu: 1, 'hugepages-2Mi': '4Mi' }),
  { resources: { requests: { [GPU]: 1 }, limits: { [GPU]: '1' } } },
  { resources: { requests: { [GPU]: 1 }, limits: { [GPU]: 2 } } },
  { resources: { requests: { cpu: '1100m' }, limits: { cpu: 1.1 } } },
  { resources: { requests: { cpu: '1101m' }, limits: { cpu: 1.1 } } },
  { resources: { requests: { memory: '1025Mi' }, limits: { memory: '1Gi' } } },
  { nodeSelector: { 'example.com/Disk_Type.x': 'SSD-1', empty: '' } },
  { nodeSelector: { 'two words': 'a' } },
  { nodeSelector: { 'a/b/c': 'a' } },
  { nodeSelector: { 'Example.com/disk': 'a' } },
  { nodeSelector: { '/disk': 'a' } },
  { nodeSelector: { disk: '-ssd' } },
  { nodeSelector: { disk: 'a'.repeat(63) } },
  { nodeSelector: { disk: 'a'.repeat(64) } },
  { nodeSelector: { [`${'d'.repeat(253)}/${'n'.repeat(63)}`]: 'a' } },
  { nodeSelector: { [`${'d'.repeat(254)}/n`]: 'a' } },
  { nodeSelector: { ['n'.repeat(64)]: 'a' } },
  { nodeSelector: { gpu: true } },
  tolerating({ operator: 'Exists' }),
  tolerating({ operator: 'Exists', key: '' }),
  tolerating({ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: -5 }),
  tolerating({ key: 'a' }),
  tolerating({ key: 'a', operator: 'Equal', value: 'b', effect: 'PreferNoSchedule' }),
  tolerating({ key: 'a', operator: 'Exists', value: 'b' }),
  tolerating({ key: 'a', operator: 'exists' }),
  tolerating({ key: 'a', effect: 'noSchedule' }),
  tolerating({ key: 'a b', operator: 'Exists' }),
  tolerating({ key: 'a', value: 'b c' }),
  tolerating({ key: 'a', value: true }),
  tolerating({ key: 'a', tolerationSeconds: 30 }),
  tolerating({ effect: 'NoSchedule' }),
  { tolerations: { key: 'a' } },
  { priorityClassName: 'builds' },
  { priorityClassName: 'High_Prio' },
  { terminationGracePeriodSeconds: 0 },
  { terminationGracePeriodSeconds: '30s' },
];

(without ? describe.skip : describe)(
  'the keys of a pool that Kubernetes has too, on a real API server (needs KUBEBUILDER_ASSETS)',
  () => {
    let real: RealCluster;
    let cluster: Cluster;
    let made = 0;

    beforeAll(async () => {
      real = await startRealCluster(assets ?? '');
      cluster = connectCluster({ kubeconfigFile: real.kubeconfigFile, requestTimeoutMs: 20_000 });
      const body = {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'builds' },
        value: 1_000,
      };
      await callJson(cluster, {
        method: 'POST',
        path: '/apis/scheduling.k8s.io/v1/priorityclasses',
        body,
      });
    });
    afterAll(async () => {
      cluster.close();
      await real.stop();
    });

    const marks = () => ({
      name: `pdk-i-${++made}`,
      namespace: POOL.namespace,
      instance: 'i',
      pool: POOL.name,
      entityId: 42,
      scopeRepoId: 0,
    });

    test('a pod has them, and a limit alone is a request too (H3)', async () => {
      const keys = {
        resources: { requests: { cpu: 0.5, memory: '1Gi' }, limits: { memory: '2Gi', [GPU]: 1 } },
        nodeSelector: { accelerator: 'l4' },
        tolerations: [{ key: GPU, operator: 'Exists', effect: 'NoSchedule' }],
        priorityClassName: 'builds',
        terminationGracePeriodSeconds: 3_600,
      };
      const [pool] = poolsDocument.parse({ pools: [{ ...POOL, ...keys }], entities: {} }).pools;
      const worker = { ...pool, ...marks(), image: POOL.image };
      await createPod(cluster, runnerPod(worker));
      const { spec } = (await callJson(cluster, {
        method: 'GET',
        path: objectPath(worker.namespace, 'pods', worker.name),
      })) as {
        spec: object;
      };
      expect(spec).toMatchObject({
        nodeSelector: keys.nodeSelector,
        tolerations: expect.arrayContaining(keys.tolerations),
        priorityClassName: 'builds',
        priority: 1_000,
        terminationGracePeriodSeconds: 3_600,
        containers: [
          {
            resources: {
              requests: { cpu: '500m', memory: '1Gi', [GPU]: '1' },
              limits: { memory: '2Gi', [GPU]: '1' },
            },
          },
        ],
      });
    });

    test.each(without ? [{}] : TRIED)(
      'the file and the API server accept the same: %j (H1, H3)',
      async (keys) => {
        // In a template they reach the API server unread.
        const { resources, ...rest } = keys as Record<string, unknown>;
        const template = { spec: { ...rest, containers: [{ name: 'runner', resources }] } };
        const refusal = await failureOf(
          createPod(cluster, runnerPod({ ...marks(), image: POOL.image, template }), {
            dryRun: true,
          }),
        );
        expect({ isTaken: refusal === undefined, why: refusal?.message }).toMatchObject({
          isTaken: isRead(keys),
        });
      },
    );
  },
);
