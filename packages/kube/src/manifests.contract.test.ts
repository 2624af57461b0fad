import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parsedPool, problemsOf } from '@paddock/domain/scenes/pools-document.scene';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { callJson, objectPath } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { classifyKubeError } from './errors.ts';
import { createPod } from './pods.ts';
import { runnerPod } from './runner-pod.ts';
import { createSecret, runnerSecret } from './secrets.ts';
import { unknownPodFields } from './unknown-fields.ts';

/** How a call failed, or undefined if it did not. */
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyKubeError);

const assets = process.env['KUBEBUILDER_ASSETS'];
const described = assets === undefined || assets === '' ? describe.skip : describe;

/** docs/runner-pods.md shows it. */
const RESTRICTED = {
  spec: {
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1001,
      fsGroup: 1001,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'runner',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

const PROXY = { http: 'http://proxy:3128', https: 'http://proxy:3128', noProxy: ['.svc'] };
const LONGEST = { instance: 'abcdef', pool: `p${'o'.repeat(28)}l` };

const POOL = { name: 'gpu', labels: ['gpu'], image: 'example.test/runner:1', namespace: 'default' };
const GPU = 'nvidia.com/gpu';
const tolerating = (toleration: object) => ({ tolerations: [toleration] });
const isRead = (keys: object) => problemsOf([{ ...POOL, ...keys }]).length === 0;
const limits = (amounts: object) => ({ resources: { limits: amounts } });

/** What the file refuses by its shape, and whether it does. The file leaves the rest to the server. */
const WRONG: [isRefusedByFile: boolean, keys: object][] = [
  [true, limits({ cpu: true })],
  [true, { nodeSelector: { gpu: true } }],
  [true, tolerating({ key: 'a', operator: 'exists' })],
  [true, tolerating({ key: 'a', effect: 'noSchedule' })],
  [true, tolerating({ key: 'a', value: true })],
  [true, { tolerations: { key: 'a' } }],
  [true, { terminationGracePeriodSeconds: '30s' }],
  [false, limits({ memory: '16GB' })],
  [false, limits({ gpu: 1 })],
  [false, limits({ [GPU]: '500m' })],
  [false, { resources: { requests: { [GPU]: 1 } } }],
  [false, { resources: { requests: { memory: '1025Mi' }, limits: { memory: '1Gi' } } }],
  [false, { nodeSelector: { 'two words': 'a' } }],
  [false, { nodeSelector: { disk: '-ssd' } }],
  [false, tolerating({ key: 'a', operator: 'Exists', value: 'b' })],
  [false, tolerating({ effect: 'NoSchedule' })],
  [false, { priorityClassName: 'High_Prio' }],
];

described('the manifests, on a real API server (needs KUBEBUILDER_ASSETS)', () => {
  let real: RealCluster;
  let cluster: Cluster;
  let made = 0;

  beforeAll(async () => {
    real = await startRealCluster(assets ?? '');
    cluster = connectCluster({ kubeconfigFile: real.kubeconfigFile, requestTimeoutMs: 120_000 });
    for (const level of ['privileged', 'baseline', 'restricted'])
      await addNamespace(level, { 'pod-security.kubernetes.io/enforce': level });
  });
  afterAll(async () => {
    cluster.close();
    await real.stop();
  });

  const addNamespace = (name: string, labels: object) =>
    callJson(cluster, {
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    });
  const marksOf = (level = POOL.namespace) => ({
    name: `pdk-i-${++made}`,
    namespace: level,
    instance: 'i',
    pool: POOL.name,
    entityId: 42,
    scopeRepoId: 0,
  });
  /** A pool's pod as the scheduler makes it, in a namespace of that Pod Security level. */
  const podIn = (level: string, more: object = {}) => {
    return runnerPod({ ...parsedPool({ ...POOL, namespace: level, ...more }), ...marksOf(level) });
  };
  const readSpec = async (pod: ReturnType<typeof podIn>) => {
    const path = objectPath(pod.metadata?.namespace ?? '', 'pods', pod.metadata?.name);
    return ((await callJson(cluster, { method: 'GET', path })) as { spec: Record<string, unknown> })
      .spec;
  };

  test.each<[string, string, object]>([
    ['without a template', 'baseline', {}],
    ['of the template in docs/runner-pods.md', 'restricted', { template: RESTRICTED }],
    ['with a Docker daemon', 'privileged', { containerMode: 'dind' }],
    [
      'behind a proxy, with certificates',
      'baseline',
      { proxy: PROXY, caBundle: { configMap: 'ca', key: 'acme.crt' } },
    ],
    [
      'with all of it',
      'privileged',
      { containerMode: 'dind', proxy: PROXY, caBundle: { configMap: 'ca' }, template: RESTRICTED },
    ],
    [
      'with init containers and one beside the runner',
      'baseline',
      {
        template: {
          spec: {
            initContainers: [{ name: 'a', image: 'a:1' }],
            containers: [{ name: 'b', image: 'b:1' }],
          },
        },
      },
    ],
    [
      'with keys that have no value',
      'baseline',
      {
        template: {
          metadata: { labels: null },
          spec: {
            nodeSelector: null,
            tolerations: null,
            volumes: null,
            containers: [{ name: 'runner', env: null, resources: null }],
          },
        },
      },
    ],
    [
      'with a daemon of its own, an own work volume and mounts where ours are',
      'privileged',
      {
        containerMode: 'dind',
        template: {
          spec: {
            initContainers: [{ name: 'dind', image: 'd:1', resources: { limits: { cpu: 1 } } }],
            containers: [
              { name: 'runner', volumeMounts: [{ name: 'work', mountPath: '/home/runner/_work' }] },
            ],
            volumes: [{ name: 'work', ephemeral: { volumeClaimTemplate: { spec: claim() } } }],
          },
        },
      },
    ],
  ])('a pod %s is taken at the level %s (H3)', async (_what, level, more) => {
    const pod = podIn(level, more);
    expect(await createPod(cluster, pod)).toMatchObject({ outcome: 'created' });
    expect(await readSpec(pod)).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
    });
  });

  test.each([
    ['restricted', {}],
    ['baseline', { containerMode: 'dind' }],
  ])('the level %s refuses %j, with the reason (C11)', async (level, more) => {
    const refused = await failureOf(createPod(cluster, podIn(level, more)));
    expect(refused).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('violates PodSecurity'),
    });
  });

  test.each<object>([
    { nodeSelctor: { a: 'b' }, image: 'i:1', serviceAccountName: 'default', hostUsers: true },
    containers({
      imagePulPolicy: 'Always',
      securityContext: { capabilities: { dropp: ['ALL'] } },
      resources: { limit: { cpu: 1 } },
      livenessProbe: null,
    }),
    {
      initContainers: [{ name: 'a', image: 'a:1', comand: ['x'] }],
      tolerations: [{ operator: 'Exists', efect: 'NoSchedule' }],
      volumes: [{ name: 'b', persistentVolumeClaim: { claimName: 'c', readonly: true } }],
    },
    { topologySpreadConstraints: [], nodeSelector: { any: 'key' }, hostUsers: true },
  ])(
    'the fields of %j that a PodSpec lacks are those that the server warns of (H1, H3)',
    async (spec) => {
      const pod = podIn('privileged', { template: { spec } });
      const { warnings } = await createPod(cluster, pod, { dryRun: true });
      const dropped = warnings.flatMap(
        (warning) => /^unknown field "spec\.(.+)"$/.exec(warning)?.[1] ?? [],
      );
      expect(dropped.toSorted()).toEqual(
        unknownPodFields(pod.spec)
          .map(({ path }) => path)
          .toSorted(),
      );
      expect(warnings.length > 0).toBe(unknownPodFields(spec).length > 0);
    },
  );

  test('a policy that only warns is reported too (H1)', async () => {
    const name = 'warned';
    await addNamespace(name, { 'pod-security.kubernetes.io/warn': 'restricted' });
    const { warnings } = await createPod(cluster, podIn(name), { dryRun: true });
    expect(warnings).toEqual([
      expect.stringContaining('would violate PodSecurity "restricted:latest"'),
    ]);
  });

  test('the longest names and the widest marks are taken (A8)', async () => {
    const name = `pdk-${LONGEST.instance}-${LONGEST.pool}-0123456789ab`;
    const id = Number.MAX_SAFE_INTEGER;
    const marks = {
      entityId: id,
      scopeRepoId: id,
      madeForJobId: id,
      deliveryGuid: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      cluster: 'c',
    };
    const worker = { ...LONGEST, ...marks, name, namespace: 'baseline' };
    expect(name.length).toBeLessThanOrEqual(60);
    expect(
      await createSecret(cluster, runnerSecret({ ...worker, jitConfig: 'x'.repeat(20_000) })),
    ).toBe('created');
    expect(await createPod(cluster, runnerPod({ ...worker, image: 'runner:1' }))).toMatchObject({
      outcome: 'created',
    });
  });

  describe('the keys of a pool that Kubernetes has too', () => {
    test('a pod has them, and a limit alone is a request too (H3)', async () => {
      const apiVersion = 'scheduling.k8s.io/v1';
      const metadata = { name: 'builds' };
      await callJson(cluster, {
        method: 'POST',
        path: `/apis/${apiVersion}/priorityclasses`,
        body: { apiVersion, kind: 'PriorityClass', metadata, value: 1_000 },
      });
      const keys = {
        resources: { requests: { cpu: 0.5, memory: '1Gi' }, limits: { memory: '2Gi', [GPU]: 1 } },
        nodeSelector: { accelerator: 'l4' },
        tolerations: [{ key: GPU, operator: 'Exists', effect: 'NoSchedule' }],
        priorityClassName: 'builds',
        terminationGracePeriodSeconds: 3_600,
      };
      const pod = podIn(POOL.namespace, keys);
      await createPod(cluster, pod);
      expect(await readSpec(pod)).toMatchObject({
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

    test.each(WRONG)(
      'refused by the file: %s; by the API server: %j (H1, H3)',
      async (is, keys) => {
        expect(isRead(keys)).toBe(!is);
        // In a template they reach the API server unread.
        const { resources, ...rest } = keys as Record<string, unknown>;
        const template = { spec: { ...rest, containers: [{ name: 'runner', resources }] } };
        const pod = runnerPod({ ...marksOf(), image: POOL.image, template });
        expect(await failureOf(createPod(cluster, pod, { dryRun: true }))).toBeDefined();
      },
    );
  });
});

function containers(more: object): object {
  return { containers: [{ name: 'runner', ...more }] };
}

function claim(): object {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
}
