import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callJson } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { createPod, listPods } from '@paddock/kube/pods';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import {
  deploy,
  deployedManifests,
  grantRights,
  kubeconfigOf,
} from '@paddock/testing/cluster-rights';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { CALLS, kubeImportsOf, podAt, recording } from './scenes/kube-calls.scene.ts';

const RUNNERS = 'runners';
const SERVICES = ['scheduler', 'reconciler'] as const;

/**
 * The services' imports of the kube package that need no right: they call no cluster, or only make
 * calls that everyone may make.
 */
const TAKES_NO_RIGHT = new Set([
  'probeCluster',
  'clusterSettings',
  'kubeRules',
  'connectConfiguredCluster',
  'KubeError',
  'isTransient',
  'isAway',
  'isUnanswered',
  'isPulling',
  'levelOf',
  'jobInLog',
  'classifyKubeError',
  'podFailure',
  'runnerPod',
  'runnerSecret',
]);

const importsOf = (service: string) =>
  kubeImportsOf(join(import.meta.dirname, '../../apps', service, 'src'));

/** The calls that a service makes, of those that there are. */
const callsOf = (service: string) => [...CALLS].filter(([name]) => importsOf(service).has(name));

/** The rights of a service's role, as `resource verb`. */
async function grantedTo(service: string): Promise<string[]> {
  const manifests = await deployedManifests('runner-namespace.yaml');
  const rules =
    manifests.find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === `paddock-${service}`,
    )?.rules ?? [];
  return rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)),
  );
}

describe('the calls that the services make', () => {
  test.each(SERVICES)('all that %s imports of the kube package is known here', (service) => {
    expect(
      [...importsOf(service)].filter((name) => !CALLS.has(name) && !TAKES_NO_RIGHT.has(name)),
    ).toEqual([]);
  });
});

const assets = process.env['KUBEBUILDER_ASSETS'];
const described = assets === undefined || assets === '' ? describe.skip : describe;

described(
  'the rights in deploy/kubernetes, on a real API server (H3; needs KUBEBUILDER_ASSETS)',
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
      await admin('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: RUNNERS },
      });
      await grantRights(admin, [RUNNERS]);
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
        for (const [, call] of calls) await call(cluster, at);
        expect(calls).not.toEqual([]);
        expect((await grantedTo(service)).toSorted()).toEqual([...used].toSorted());
      },
    );

    test('no service lists Secrets, or does anything beyond the namespaces of runners', async () => {
      for (const service of SERVICES) {
        const cluster = connect(await kubeconfigOf(admin, service, real.kubeconfigFile));
        const secrets = callJson(cluster, {
          method: 'GET',
          path: `/api/v1/namespaces/${RUNNERS}/secrets`,
        });
        await expect(secrets).rejects.toMatchObject({ failure: { kind: 'forbidden' } });
        await expect(
          listPods(cluster, { namespace: 'paddock', instance: 'rights' }),
        ).rejects.toMatchObject({
          failure: { kind: 'forbidden' },
        });
      }
    });

    test('the disruption budget is one that the cluster takes', async () => {
      await deploy(admin, 'pod-disruption-budget.yaml', RUNNERS);
      const budget = await admin(
        'GET',
        `/apis/policy/v1/namespaces/${RUNNERS}/poddisruptionbudgets/paddock-runners`,
      );
      expect(budget).toMatchObject({ spec: { minAvailable: 1_000_000 } });
    });
  },
);
