import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from '@paddock/domain/pools/pool';
import { callJson } from '@paddock/kube/call';
import { type Cluster, type ClusterRequest, connectCluster } from '@paddock/kube/connect';
import { podEvents } from '@paddock/kube/events';
import { deleteHookObjects } from '@paddock/kube/hook-objects';
import { readLog } from '@paddock/kube/logs';
import { podChanges } from '@paddock/kube/pod-changes';
import {
  type ObjectName,
  annotatePod,
  createPod,
  deletePod,
  findAskedPod,
  findPod,
  listPods,
} from '@paddock/kube/pods';
import { runnerPod } from '@paddock/kube/runner-pod';
import { readJobInLog, readRefusedVersion, readRunnerVersion } from '@paddock/kube/runner-log';
import { rightsOf, watchRights } from '@paddock/kube/rights';
import {
  createSecret,
  deleteSecret,
  secretExists,
  setSecretOwner,
  runnerSecret,
} from '@paddock/kube/secrets';
import { tryPool } from '@paddock/kube/try-pool';
import { createMetrics } from '@paddock/runtime/metrics';
import { type AdminApi, collectionOf, connectAsAdmin } from '@paddock/testing/admin-api';
import {
  deploy,
  deployedManifests,
  grantRights,
  kubeconfigOf,
} from '@paddock/testing/cluster-rights';
import { examplePools } from '@paddock/testing/demand-rows';
import { hookObjects } from '@paddock/testing/hook-objects';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const RUNNERS = 'runners';
const SERVICES = ['scheduler', 'reconciler'] as const;

/**
 * The services' imports of the kube package that need no right: they call no cluster, or only make
 * calls that everyone may make.
 */
const TAKES_NO_RIGHT = `
  probeCluster clusterSettings kubeRules connectCluster KubeError isTransient isAway isUnanswered
  asUnreadable isPulling levelOf jobInLog classifyKubeError podFailure runnerPod runnerSecret
  watchRights unless
`;

const importsOf = (service: string) =>
  kubeImportsOf(join(import.meta.dirname, '../../apps', service, 'src'));

/** The calls that a service makes, of those that there are. */
const callsOf = (service: string) => [...CALLS].filter(([name]) => importsOf(service).has(name));

/** The rights of a service's role, as `resource verb`. */
async function grantedTo(service: string): Promise<string[]> {
  const files = ['runner-namespace.yaml', 'runner-hooks.yaml'];
  const manifests = (await Promise.all(files.map(deployedManifests))).flat();
  return manifests
    .filter(
      ({ kind, metadata: { name } }) => kind === 'Role' && name.startsWith(`paddock-${service}`),
    )
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups: [group], resources, verbs }) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${resource}${group === '' ? '' : `.${group}`} ${verb}`),
      ),
    );
}

describe('the calls that the services make', () => {
  test.each(SERVICES)('all that %s imports of the kube package is known here', (service) => {
    const noRight = TAKES_NO_RIGHT.trim().split(/\s+/);
    expect(
      [...importsOf(service)].filter((name) => !CALLS.has(name) && !noRight.includes(name)),
    ).toEqual([]);
  });
});

const assets = process.env['KUBEBUILDER_ASSETS'];
const described = assets === undefined || assets === '' ? describe.skip : describe;

described(
  'the rights and policies in deploy/kubernetes, on a real API server (H3; needs KUBEBUILDER_ASSETS)',
  () => {
    let real: RealCluster;
    let admin: AdminApi;
    const clusters: Cluster[] = [];

    const connect = (kubeconfigFile: string): Cluster => {
      const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
      clusters.push(cluster);
      return cluster;
    };

    beforeAll(async () => {
      real = await startRealCluster(assets ?? '');
      admin = await connectAsAdmin(real.kubeconfigFile);
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: RUNNERS } };
      await admin('POST', '/api/v1/namespaces', namespace);
      await grantRights(admin, [RUNNERS]);
      await deploy(admin, 'runner-hooks.yaml', RUNNERS);
    });
    afterAll(async () => {
      for (const cluster of clusters) cluster.close();
      await real.stop();
    });

    test.each(SERVICES)(
      '%s has each right that it uses, and uses each that it has',
      async (service) => {
        const { cluster, used } = recording(
          connect(await kubeconfigOf(admin, service, real.kubeconfigFile)),
        );
        const at = { namespace: RUNNERS, name: `pdk-rights-${service}` };
        const calls = callsOf(service);
        if (!calls.some(([name]) => name === 'createPod'))
          await createPod(connect(real.kubeconfigFile), podAt(at));
        await hookObjects(admin).make(at.name);
        for (const [, call] of calls) await call(cluster, at);
        expect(calls).not.toEqual([]);
        expect((await grantedTo(service)).toSorted()).toEqual([...used].toSorted());
        expect(rightsOf(service, true).toSorted()).toEqual([...used].toSorted());
      },
    );

    test.each(SERVICES)(
      '%s says once which rights it lacks in a namespace, and that it has them (H1, H3)',
      async (service) => {
        const cluster = connect(await kubeconfigOf(admin, service, real.kubeconfigFile));
        const later = `later-${service}`;
        const said: string[] = [];
        const say = (_sentence: string, fields: object) => void said.push(JSON.stringify(fields));
        const rights = watchRights({
          cluster,
          service,
          findNamespaces: () => Promise.resolve([RUNNERS, later]),
          hookNamespaces: () => [RUNNERS],
          log: { error: say, warn: say, info: say, debug: say },
          metrics: createMetrics(),
        });
        await rights.look();
        await rights.look();
        const missing = rightsOf(service).join(', ');
        expect(said).toEqual([JSON.stringify({ namespace: later, rights: missing })]);
        expect(rights.warning()).toBe(`rights are missing in the namespace ${later}: ${missing}`);
        await admin('POST', '/api/v1/namespaces', { metadata: { name: later } });
        await deploy(admin, 'runner-namespace.yaml', later);
        await waitFor('the rights to be seen', async () => {
          await rights.look();
          return rights.warning() === undefined;
        });
        expect(said).toHaveLength(2);
      },
    );

    test('the scheduler lacks rights where a pool gets hooks, until they are applied (H1, H3)', async () => {
      const cluster = connect(await kubeconfigOf(admin, 'scheduler', real.kubeconfigFile));
      const namespace = 'hooked';
      await admin('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      await deploy(admin, 'runner-namespace.yaml', namespace);
      let hooked: string[] = [];
      const rights = watchRights({
        cluster,
        service: 'scheduler',
        findNamespaces: () => Promise.resolve([namespace]),
        hookNamespaces: () => hooked,
        log: SILENT_LOG,
        metrics: createMetrics(),
      });
      await rights.look();
      expect(rights.warning()).toBeUndefined();
      hooked = [namespace];
      await rights.look();
      const more = rightsOf('scheduler', true).slice(rightsOf('scheduler').length);
      expect(rights.warning()).toContain(`namespace hooked: ${more.join(', ')}`);
      await deploy(admin, 'runner-hooks.yaml', namespace);
      await waitFor('the rights to be seen', async () => {
        await rights.look();
        return rights.warning() === undefined;
      });
    });

    test('no service lists Secrets where no runner has hooks, or does anything beyond the namespaces of runners', async () => {
      await admin('POST', '/api/v1/namespaces', { metadata: { name: 'plain' } });
      await deploy(admin, 'runner-namespace.yaml', 'plain');
      for (const service of SERVICES) {
        const cluster = connect(await kubeconfigOf(admin, service, real.kubeconfigFile));
        const secrets = callJson(cluster, {
          method: 'GET',
          path: '/api/v1/namespaces/plain/secrets',
        });
        await expect(secrets).rejects.toMatchObject({ failure: { kind: 'forbidden' } });
        await expect(
          listPods(cluster, { namespace: 'paddock', instance: 'rights' }),
        ).rejects.toMatchObject({
          failure: { kind: 'forbidden' },
        });
      }
    });

    test('the policies and the disruption budget are taken, and kept as they are written', async () => {
      for (const file of FILES) await deploy(admin, file, RUNNERS);
      const manifests = await Promise.all(FILES.map((file) => deployedManifests(file)));
      for (const manifest of manifests.flat()) {
        const collection = collectionOf({ ...manifest, metadata: { namespace: RUNNERS } });
        const stored = await admin('GET', `${collection}/${manifest.metadata.name}`);
        // An empty list and none say the same.
        expect({ ingress: [], ...(stored as typeof manifest).spec }).toMatchObject(
          manifest.spec ?? {},
        );
      }
    });
  },
);

const FILES = ['network-policy.yaml', 'runner-network-policy.yaml', 'pod-disruption-budget.yaml'];

const INSTANCE = 'rights';

const workerAt = ({ namespace, name }: ObjectName) => ({
  namespace,
  name,
  instance: INSTANCE,
  pool: 'linux',
  image: 'example.test/runner:1',
  entityId: 42,
  scopeRepoId: 0,
});

type Call = (cluster: Cluster, at: ObjectName) => Promise<unknown>;

const NEVER = new AbortController().signal;

/** A log that may not be read is a value, not an error. */
const reading =
  (
    read: (
      cluster: Cluster,
      at: ObjectName,
      signal: AbortSignal,
    ) => Promise<
      string | { readonly unreadable: { readonly message: string } } | undefined | number
    >,
  ): Call =>
  async (cluster, at) => {
    const found = await read(cluster, at, NEVER);
    if (typeof found === 'object') throw new Error(found.unreadable.message);
  };

/**
 * Each function of the kube package that calls the cluster, in an order in which all can be called
 * on one name. All throw if refused.
 */
const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  [
    'createSecret',
    (cluster, at) => createSecret(cluster, runnerSecret({ ...workerAt(at), jitConfig: 'jit' })),
  ],
  ['secretExists', secretExists],
  // The second time it is there, and is looked at.
  [
    'createPod',
    async (cluster, at) => [
      await createPod(cluster, podAt(at)),
      await createPod(cluster, podAt(at)),
    ],
  ],
  ['findPod', findPod],
  ['findAskedPod', (cluster, at) => findAskedPod(cluster, at, podAt(at))],
  [
    'tryPool',
    (cluster, { namespace }) =>
      tryPool(cluster, examplePools({ pools: [{ namespace }] }).pools[0] as Pool),
  ],
  [
    'setSecretOwner',
    (cluster, at) => setSecretOwner(cluster, { ...at, podName: at.name, podUid: 'a-uid' }),
  ],
  ['listPods', (cluster, { namespace }) => listPods(cluster, { namespace, instance: INSTANCE })],
  ['watchPods', watchOnce],
  [
    'readLog',
    reading((cluster, at) => readLog(cluster, { ...at, container: 'runner', tailLines: 1 })),
  ],
  ['readJobInLog', reading(readJobInLog)],
  ['readRefusedVersion', reading(readRefusedVersion)],
  ['readRunnerVersion', reading(readRunnerVersion)],
  ['podEvents', podEvents],
  [
    'annotatePod',
    (cluster, at) =>
      annotatePod(cluster, at, { jobId: 1, repository: 'acme/api', workflow: null, url: null }),
  ],
  ['deletePod', deletePod],
  ['deleteSecret', deleteSecret],
  ['deleteHookObjects', deleteHookObjects],
]);

const podAt = (at: ObjectName): Parameters<typeof createPod>[1] => runnerPod(workerAt(at));

/** A follower's calls: a list, and a watch that the server ends after a second. */
async function watchOnce(cluster: Cluster, { namespace }: ObjectName): Promise<void> {
  const { resourceVersion } = await listPods(cluster, { namespace, instance: INSTANCE });
  const changes = podChanges(
    cluster,
    { namespace, instance: INSTANCE, resourceVersion, seconds: 1 },
    NEVER,
  );
  while ((await changes.next()).done !== true);
}

/** The values (not types) that a folder's own code imports from the kube package. */
function kubeImportsOf(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.(test|scene))\.ts$/.test(file),
  );
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const imports = sources.flatMap((source) =>
    Array.from(
      source.matchAll(/^import \{([^}]*)\} from '@paddock\/kube\//gms),
      ([, names]) => names,
    ),
  );
  const names = imports.flatMap((list = '') =>
    list.split(',').map((name) => name.trim().replace(/ as .*/, '')),
  );
  return new Set(names.filter((name) => name !== '' && !name.startsWith('type ')));
}

/** A cluster that records its calls, as `resource verb`. */
function recording(cluster: Cluster): { cluster: Cluster; used: Set<string> } {
  const used = new Set<string>();
  return {
    used,
    cluster: {
      ...cluster,
      send: (request) => {
        used.add(verbOf(request));
        return cluster.send(request);
      },
    },
  };
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf({ method, path }: ClusterRequest): string {
  const url = new URL(path, 'http://cluster');
  const [, group, resource, name, subresource] =
    /^\/api(?:s\/(\w+))?\/v1\/namespaces\/[^/]+\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(
      url.pathname,
    ) ?? [];
  const of = group === undefined ? resource : `${resource}.${group}`;
  const whole = [of, subresource].filter((part) => part !== undefined).join('/');
  if (method !== 'GET') return `${whole} ${VERBS[method] ?? method}`;
  if (url.searchParams.has('watch')) return `${whole} watch`;
  return `${whole} ${name === undefined ? 'list' : 'get'}`;
}
