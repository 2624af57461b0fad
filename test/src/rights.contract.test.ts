import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callJson } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { createPod, listPods } from '@paddock/kube/pods';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { parseAllDocuments } from 'yaml';
import { CALLS, kubeImportsOf, podAt, recording } from './kube-calls.scene.ts';

const ROOT = join(import.meta.dirname, '../..');
const RUNNERS = 'runners';

/** What the services import of the kube package that calls no cluster. */
const CALLS_NOTHING = new Set(['connectCluster', 'KubeError', 'classifyKubeError', 'podFailure', 'runnerPod', 'runnerSecret']);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

async function manifests(file: string): Promise<Manifest[]> {
  const text = await readFile(join(ROOT, 'deploy/kubernetes', file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const granted = ({ rules = [] }: Manifest): string[] =>
  rules.flatMap(({ resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)));

/** The calls that a service makes, of those that there are. */
const callsOf = (service: string) => [...CALLS].filter(([name]) => kubeImportsOf(join(ROOT, 'apps', service, 'src')).has(name));

describe('the calls that the services make', () => {
  test.each(['scheduler', 'reconciler'])('all that %s imports of the kube package is known here', (service) => {
    const unknown = [...kubeImportsOf(join(ROOT, 'apps', service, 'src'))].filter((name) => !CALLS.has(name) && !CALLS_NOTHING.has(name));
    expect(unknown).toEqual([]);
  });
});

const assets = process.env['KUBEBUILDER_ASSETS'];
const described = assets === undefined || assets === '' ? describe.skip : describe;

described('the rights in deploy/kubernetes, on a real API server (H3; needs KUBEBUILDER_ASSETS)', () => {
  let real: RealCluster;
  let admin: Cluster;
  const clusters: Cluster[] = [];

  const connect = (kubeconfigFile: string): Cluster => {
    const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
    clusters.push(cluster);
    return cluster;
  };
  const post = (path: string, body: object) => callJson(admin, { method: 'POST', path, body });
  const apply = async (file: string, namespace: string) => {
    for (const manifest of await manifests(file)) await post(pathOf(manifest.kind, namespace), manifest);
  };

  /** A connection under a service's own account, with a token as its pod would have. */
  async function connectAs(account: string): Promise<Cluster> {
    const path = `/api/v1/namespaces/paddock/serviceaccounts/${account}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const { status } = (await post(path, body)) as { status: { token: string } };
    const file = `${real.kubeconfigFile}-${account}`;
    const text = await readFile(real.kubeconfigFile, 'utf8');
    await writeFile(file, text.replace(/"token":"\w+"/, `"token":"${status.token}"`), { mode: 0o600 });
    return connect(file);
  }

  beforeAll(async () => {
    real = await startRealCluster(assets ?? '');
    admin = connect(real.kubeconfigFile);
    for (const name of ['paddock', RUNNERS]) await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await apply('service-accounts.yaml', 'paddock');
    await apply('runner-namespace.yaml', RUNNERS);
  });
  afterAll(async () => {
    for (const cluster of clusters) cluster.close();
    await real.stop();
  });

  test.each(['scheduler', 'reconciler'])('%s has each right that it uses, and uses each that it has', async (service) => {
    const { cluster, used } = recording(await connectAs(`paddock-${service}`));
    const at = { namespace: RUNNERS, name: `pdk-rights-${service}` };
    const calls = callsOf(service);
    if (!calls.some(([name]) => name === 'createPod')) await createPod(admin, podAt(at));
    for (const [, call] of calls) await call(cluster, at);
    const role = (await manifests('runner-namespace.yaml')).find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === `paddock-${service}`,
    );
    expect(calls).not.toEqual([]);
    expect(granted(role as Manifest).toSorted()).toEqual([...used].toSorted());
  });

  test('no service lists Secrets, or does anything beyond the namespaces of runners', async () => {
    for (const account of ['paddock-scheduler', 'paddock-reconciler']) {
      const cluster = await connectAs(account);
      const secrets = callJson(cluster, { method: 'GET', path: `/api/v1/namespaces/${RUNNERS}/secrets` });
      await expect(secrets).rejects.toMatchObject({ failure: { kind: 'forbidden' } });
      await expect(listPods(cluster, { namespace: 'paddock', instance: 'rights' })).rejects.toMatchObject({
        failure: { kind: 'forbidden' },
      });
    }
  });

  test('the disruption budget is one that the cluster takes', async () => {
    await apply('pod-disruption-budget.yaml', RUNNERS);
    const path = `${pathOf('PodDisruptionBudget', RUNNERS)}/paddock-runners`;
    expect(await callJson(admin, { method: 'GET', path })).toMatchObject({ spec: { minAvailable: 1_000_000 } });
  });
});

function pathOf(kind: string, namespace: string): string {
  const paths: Record<string, string> = {
    ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
    RoleBinding: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
    PodDisruptionBudget: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
  };
  const path = paths[kind];
  if (path === undefined) throw new Error(`There is no path for a ${kind} here: add it.`);
  return path;
}
