import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startRealCluster } from '@paddock/testing/real-cluster';
import {
  CHART,
  type ChartObject,
  type ChartPod,
  HELM,
  type Release,
  renderChart,
  runHelm,
} from '@paddock/testing/render-chart';
import { waitFor } from '@paddock/testing/wait-for';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChartCluster,
  type LiveObject,
  connectChartCluster,
} from '../scenes/chart-cluster.scene.ts';
import {
  DEPLOYED,
  EXAMPLES,
  LEAST,
  MATRIX,
  ONLY_THE_NAMESPACES_IDS,
  POOL,
  RESTRICTED,
  differences,
  inArgoOrder,
} from '../scenes/chart-releases.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = HELM === undefined || assets === '' ? describe.skip : describe;

const COLLECTIONS = [
  'rbac.authorization.k8s.io/v1 roles',
  'rbac.authorization.k8s.io/v1 rolebindings',
  'networking.k8s.io/v1 networkpolicies',
  'policy/v1 poddisruptionbudgets',
];
const ALL = { roles: 2, rolebindings: 2, networkpolicies: 1, poddisruptionbudgets: 1 };

const poolsIn = (...namespaces: string[]): object => ({
  config: {
    ...LEAST.config,
    pools: namespaces.map((namespace) =>
      Object.assign({ ...POOL }, { name: namespace, labels: [namespace], namespace }),
    ),
  },
});

/** Each has a namespace of its own, so that no release changes the objects of another. */
const RELEASES = [...EXAMPLES, ...MATRIX].map(([name, release], nth): [string, Release] => [
  name,
  release.namespace === 'paddock' ? { ...release, namespace: `paddock-${nth}` } : release,
]);

/** Of what operators define, this API server knows nothing. */
const isBuiltIn = ({ apiVersion }: ChartObject): boolean =>
  /^[^.]+$|\.k8s\.io\//.test(apiVersion) && !apiVersion.startsWith('gateway.');

const kindsOf = (objects: readonly ChartObject[]): string[] => objects.map(({ kind }) => kind);

/** What changes with every change of an object. */
const versionsOf = (objects: readonly LiveObject[]): string[] =>
  objects.map(
    ({ kind, metadata }) => `${kind} ${metadata.name}: version ${metadata.resourceVersion}`,
  );

/** A Secret as the API keeps it. */
function withData(object: ChartObject): ChartObject {
  const { stringData, ...rest } = object as ChartObject & { stringData?: Record<string, string> };
  if (stringData === undefined) return object;
  const data = Object.entries(stringData).map(([key, text]) => [key, btoa(text)]);
  return { ...rest, data: Object.fromEntries(data) };
}

/** The pod that a workload's controller would make. */
function podOf({ kind, spec }: ChartObject): ChartPod[] {
  if (spec?.template === undefined) return [];
  const { metadata, spec: pod } = spec.template;
  if (kind !== 'StatefulSet') return [{ metadata, spec: { restartPolicy: 'Always', ...pod } }];
  const claims = spec['volumeClaimTemplates'] as ChartObject[];
  const volumes = claims.map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: name },
  }));
  return [{ metadata, spec: { ...pod, volumes: [...(pod['volumes'] as object[]), ...volumes] } }];
}

/** The pods of an example in another namespace. */
const podsOfExample = (name: string, namespace: string) => {
  const release = EXAMPLES.find(([one]) => one === name)?.[1] as Release;
  return renderChart({ ...release, namespace })
    .filter(isBuiltIn)
    .flatMap(podOf);
};

described('the chart, on a real API server (H1, H3; needs helm and KUBEBUILDER_ASSETS)', () => {
  let cluster: ChartCluster;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'paddock-chart-'));
    const ranges = { 'service-cluster-ip-range': '10.0.0.0/24,fd00:10::/112' };
    cluster = await connectChartCluster(await startRealCluster(assets, { apiServerFlags: ranges }));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await cluster.real.stop();
  });

  /** Makes the namespaces of objects. */
  const makeNamespaces = async (objects: readonly ChartObject[]): Promise<void> => {
    for (const { metadata } of objects)
      await cluster.makeNamespace(metadata.namespace ?? '', RESTRICTED);
  };
  /** Applies objects in this order; returns them as the API has them. */
  const applyAll = async (objects: readonly ChartObject[]): Promise<LiveObject[]> => {
    const live: LiveObject[] = [];
    for (const object of objects) live.push(await cluster.apply(object));
    return live;
  };
  const apply = async (objects: readonly ChartObject[]): Promise<string[]> =>
    kindsOf(await applyAll(objects));

  const argsOf = (namespace: string, command: string, args: readonly string[]): string[] => {
    const { kubeconfigFile } = cluster.real;
    return [command, 'paddock', ...args, '-n', namespace, '--kubeconfig', kubeconfigFile];
  };
  /** Runs a command of helm in the cluster; with values, if `set` adds to the fewest. */
  const helmIn = (namespace: string, command: string, args: readonly string[], set?: object) =>
    runHelm(
      argsOf(namespace, command, args).concat(set === undefined ? [] : ['--values', '-']),
      JSON.stringify({ ...LEAST, ...set }),
    );

  test.each(RELEASES)(
    '%s: it takes every object in the order of Argo CD, and a second time without a change; every pod is `restricted`',
    async (_name, release) => {
      const objects = renderChart(release).filter(isBuiltIn);
      await makeNamespaces(objects);
      const synced = inArgoOrder(objects);
      const first = await applyAll(synced);
      const second = await applyAll(synced);
      expect(versionsOf(second)).toEqual(versionsOf(first));
      const found = synced.flatMap((object, nth) => differences(withData(object), second[nth]));
      expect(found).toEqual([]);
      // Without their controllers, workloads make no pods.
      for (const [nth, pod] of objects.flatMap(podOf).entries())
        expect(
          await cluster.admin('POST', `/api/v1/namespaces/${release.namespace}/pods`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { ...pod.metadata, name: `judged-${nth}` },
            spec: pod.spec,
          }),
        ).toMatchObject({ kind: 'Pod' });
    },
  );

  test('two releases fit into one namespace (A8)', async () => {
    const releases = ['blue', 'green'].map((release) =>
      renderChart({ release, namespace: 'both', set: LEAST }),
    );
    await makeNamespaces(releases.flat());
    for (const objects of [...releases, ...releases])
      expect(await apply(objects)).toEqual(kindsOf(objects));
  });

  test('an upgrade changes nothing that cannot be changed (A10)', async () => {
    const chart = join(folder, 'next');
    cpSync(CHART, chart, { recursive: true });
    const file = join(chart, 'Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*/m, 'version: 9.9.9'));
    const release = { release: 'paddock', namespace: 'upgraded', set: LEAST };
    const first = renderChart(release);
    await makeNamespaces(first);
    const set = { ...LEAST, settings: { PADDOCK_DRAIN_MS: 60_000 }, ingress: { replicas: 5 } };
    for (const objects of [
      first,
      renderChart({ ...release, chart }),
      renderChart({ ...release, chart, set }),
      first,
    ])
      expect(await apply(objects)).toEqual(kindsOf(objects));
  });

  test('helm installs, upgrades and removes it; the password of the first-look database stays', async () => {
    const namespace = 'helm';
    await makeNamespaces(renderChart({ release: 'paddock', namespace, set: LEAST }));
    const run = (command: string, ...args: string[]): string => helmIn(namespace, command, args);
    const values = ['--values', join(DEPLOYED, 'examples/kind.yaml')].concat(
      '--set',
      'image.registry=registry.test',
    );
    const secret = async (): Promise<unknown> =>
      (await cluster.read('Secret', namespace, 'paddock-evaluation'))['data'];
    run('install', CHART, ...values);
    const first = await secret();
    run('upgrade', CHART, ...values, '--set', 'ingress.replicas=3');
    expect(await secret()).toEqual(first);
    run('rollback', '1');
    expect(await secret()).toEqual(first);
    run('uninstall');
    expect(await secret()).toEqual(first);
    run('install', CHART, ...values);
    expect(await secret()).toEqual(first);
  });

  test.each([
    ['IPv6 alone', { ipFamilies: ['IPv6'] }, [6]],
    ['both', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }, [6, 4]],
  ])('the Services have addresses of %s, by their `spec` (H2)', async (_of, spec, versions) => {
    const service = { spec: { ...spec, ports: [] } };
    const set = { ...LEAST, webhook: { service }, console: { service } };
    const release = { release: 'paddock', namespace: `stack-${versions.length}`, set };
    const objects = renderChart(release).filter(({ kind }) => kind === 'Service');
    await makeNamespaces(objects);
    const live = await applyAll(objects);
    expect(
      live.map(({ spec: { clusterIPs = [] } = {} }) => (clusterIPs as string[]).map(isIP)),
    ).toEqual([versions, versions]);
    expect(live).toMatchObject([{ spec: { ports: [{}] } }, { spec: { ports: [{}] } }]);
  });

  test('OpenShift’s policy takes every pod of its example, and none of another (H3)', async () => {
    const namespace = 'openshift';
    await cluster.makeNamespace(namespace, RESTRICTED);
    for (const [plural, object] of Object.entries(ONLY_THE_NAMESPACES_IDS))
      await cluster.admin('POST', `/apis/admissionregistration.k8s.io/v1/${plural}`, object);
    const refusalOf = async ({ metadata, spec }: ChartPod): Promise<string> => {
      const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, name: 'judged' },
        spec,
      };
      return cluster.admin('POST', path, pod).then(() => '', String);
    };
    const others = podsOfExample('enterprise-server', namespace);
    await waitFor('the policy to be in force', async () =>
      (await refusalOf(others[0] as ChartPod)).includes('gives users and groups'),
    );
    for (const pod of others) expect(await refusalOf(pod)).toContain('gives users and groups');
    for (const pod of podsOfExample('openshift', namespace)) expect(await refusalOf(pod)).toBe('');
  });

  describe('what fails half-way, or ends', () => {
    let nth = 0;
    let [own, runners] = ['', ''];
    beforeEach(async () => {
      nth++;
      [own, runners] = [`ends-${nth}`, `ends-${nth}-runners`];
      await cluster.makeNamespace(own);
    });
    const helm = (command: string, ...args: string[]): string =>
      helmIn(own, command, args, args.includes(CHART) ? poolsIn(runners) : undefined);
    const statusOf = () =>
      (JSON.parse(helm('status', '-o', 'json')) as { info: { status: string } }).info.status;
    const deployments = () => cluster.list('Deployment', own, 'app.kubernetes.io/name=paddock');
    const migrations = () => cluster.list('Job', own, 'app.kubernetes.io/component=migrate');

    test('an installation without the namespace of its runners: made, the same upgrade completes it', async () => {
      expect(() => helm('install', CHART)).toThrow(`namespaces "${runners}" not found`);
      expect(statusOf()).toBe('failed');
      expect(() => helm('install', CHART)).toThrow('name that is still in use');
      await cluster.makeNamespace(runners);
      helm('upgrade', CHART, '--install');
      expect(statusOf()).toBe('deployed');
      expect(await deployments()).toHaveLength(4);
    });

    test('one whose helm was killed is uninstalled and installed', async () => {
      await cluster.makeNamespace(runners);
      // Nothing becomes ready here, so it waits.
      const killed = spawn(
        String(HELM),
        argsOf(own, 'install', [CHART, '--wait', '--values', '-']),
      );
      killed.stdin.end(JSON.stringify({ ...LEAST, ...poolsIn(runners) }));
      await waitFor('its Deployments', async () => (await deployments()).length === 4);
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      expect(statusOf()).toBe('pending-install');
      expect(() => helm('upgrade', CHART, '--install')).toThrow('in progress');
      helm('uninstall');
      expect(await deployments()).toEqual([]);
      helm('install', CHART);
      expect(statusOf()).toBe('deployed');
    });

    test('a migration that failed for good: NOTES say so, an upgrade leaves it, and makes a deleted one anew (A10)', async () => {
      await cluster.makeNamespace(runners);
      expect(helm('install', CHART)).not.toContain('failed for good');
      const [job] = await migrations();
      const at = '2026-01-31T10:00:00Z';
      const failed = ['FailureTarget', 'Failed'].map((type) => ({
        type,
        status: 'True',
        reason: 'BackoffLimitExceeded',
        lastTransitionTime: at,
      }));
      const status = { startTime: at, conditions: failed };
      await cluster.patch(job as ChartObject, { status }, '/status');
      const said = helm('upgrade', CHART);
      expect(said).toContain('The migration failed for good');
      expect(await migrations()).toMatchObject([{ status: { conditions: failed } }]);
      const [, command = ''] = /kubectl (delete -n \S+ job \S+)/.exec(said) ?? [];
      expect(command).toBe(`delete -n ${own} job ${job?.metadata.name}`);
      const path = `/apis/batch/v1/namespaces/${own}/jobs/${job?.metadata.name}`;
      await cluster.admin('DELETE', `${path}?propagationPolicy=Background`);
      await waitFor('its end', async () => (await migrations()).length === 0);
      expect(helm('upgrade', CHART)).not.toContain('failed for good');
      expect(await migrations()).toHaveLength(1);
    });
  });

  describe('a pool that moves to another namespace', () => {
    let nth = 0;
    let [own, former, next] = ['', '', ''];
    beforeEach(async () => {
      nth++;
      [own, former, next] = [`moved-${nth}`, `former-${nth}`, `next-${nth}`];
      for (const name of [own, former, next]) await cluster.makeNamespace(name);
    });

    const helm = (command: string, args: readonly string[], set?: object): string =>
      helmIn(own, command, args, set);
    const path = (collection: string, namespace: string): string => {
      const [group, plural] = collection.split(' ');
      return `/apis/${group}/namespaces/${namespace}/${plural}?labelSelector=app.kubernetes.io/part-of=${own}.paddock`;
    };
    /** How many objects of each kind the release has in a namespace. */
    const objectsIn = async (namespace: string): Promise<Record<string, number>> =>
      Object.fromEntries(
        await Promise.all(
          COLLECTIONS.map(async (collection) => {
            const { items } = (await cluster.admin('GET', path(collection, namespace))) as {
              items: object[];
            };
            return [collection.split(' ')[1], items.length] as const;
          }),
        ),
      );

    test('runners of the namespace that it leaves keep their rights and policies, and NOTES say so once', async () => {
      helm('install', [CHART], poolsIn(former));
      const said = helm('upgrade', [CHART], poolsIn(next));
      expect(await objectsIn(former)).toEqual(ALL);
      expect(await objectsIn(next)).toEqual(ALL);
      expect(said).toContain(`No pool makes runners in the namespace ${former} now.`);
      expect(said).toContain(
        `kubectl delete -n ${former} role,rolebinding,networkpolicy,poddisruptionbudget -l app.kubernetes.io/part-of=${own}.paddock`,
      );
      expect(helm('upgrade', [CHART], poolsIn(next))).not.toContain('No pool makes runners');

      for (const collection of COLLECTIONS) await cluster.admin('DELETE', path(collection, former));
      helm('upgrade', [CHART, '--set', 'ingress.replicas=3'], poolsIn(next));
      expect(Object.values(await objectsIn(former))).toEqual([0, 0, 0, 0]);
    });

    test('so do those that a rollback or the end of the release leaves; the next release takes them over', async () => {
      helm('install', [CHART], poolsIn(former));
      helm('upgrade', [CHART], poolsIn(former, next));
      helm('rollback', ['1']);
      expect(await objectsIn(next)).toEqual(ALL);
      helm('uninstall', []);
      expect(await objectsIn(former)).toEqual(ALL);
      helm('install', [CHART], poolsIn(former, next));
      expect(await objectsIn(former)).toEqual(ALL);
    });

    test('a policy that is switched off stays too, and NOTES say how to remove it', async () => {
      helm('install', [CHART], poolsIn(former));
      const off = { runners: { networkPolicy: { enabled: false } } };
      const said = helm('upgrade', [CHART], { ...poolsIn(former), ...off });
      expect(said).toContain(
        `runners.networkPolicy is off. What the release made of it before stays in the namespaces of runners:
   kubectl delete -A networkpolicy -l app.kubernetes.io/part-of=${own}.paddock`,
      );
      expect(said).not.toContain('runners.rbac');
      expect(await objectsIn(former)).toEqual(ALL);
    });
  });
});
