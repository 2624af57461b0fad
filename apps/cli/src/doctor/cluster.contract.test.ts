import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import { examplePools } from '@paddock/testing/demand-rows';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { checkCluster } from './check-cluster.ts';

const assets = process.env['KUBEBUILDER_ASSETS'];

interface Spec {
  readonly hard?: object;
  readonly limits?: readonly object[];
}

/** An object of a namespace, and the path of its kind. */
type Made = readonly [path: string, body: { readonly spec: Spec }];

const object = (path: string, kind: string, spec: Spec): Made => [
  path,
  Object.assign({ apiVersion: 'v1', kind, metadata: { name: 'strict' } }, { spec }),
];

interface Refusal {
  readonly labels?: Readonly<Record<string, string>>;
  readonly made?: Made;
  readonly spec?: object;
}

const runner = (fields: object) => ({ containers: [{ name: 'runner', ...fields }] });

const ROWS: Readonly<Record<string, [says: RegExp, how: Refusal]>> = {
  'Pod Security': [
    /violates PodSecurity "restricted.*: give the pool's template the securityContext/,
    { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  ],
  'a quota of 0': [
    /exceeded quota: strict.*: raise the ResourceQuota/,
    { made: object('resourcequotas', 'ResourceQuota', { hard: { pods: '0' } }) },
  ],
  'a quota that counts what the template does not name': [
    /: name these in the pool's template/,
    { made: object('resourcequotas', 'ResourceQuota', { hard: { 'limits.cpu': '4' } }) },
  ],
  'a LimitRange': [
    /: change requests and limits of the pool's template, or the LimitRange/,
    {
      made: object('limitranges', 'LimitRange', {
        limits: [{ type: 'Container', max: { cpu: '1' } }],
      }),
      spec: runner({ resources: { limits: { cpu: '2' } } }),
    },
  ],
  'a PriorityClass that is not there': [
    /: create the PriorityClass/,
    { spec: { priorityClassName: 'gpu' } },
  ],
  'a RuntimeClass that is not there': [
    /: create the RuntimeClass/,
    { spec: { runtimeClassName: 'kata' } },
  ],
  'a service account that is not there': [
    /: create the service account/,
    { spec: { serviceAccountName: 'ci' } },
  ],
  'a template that it does not take': [
    /: correct the pool's template/,
    { spec: { tolerations: [{ operator: 'Sometimes' }] } },
  ],
};

(assets === undefined ? describe.skip : describe)('paddock doctor at a real API server', () => {
  let real: RealCluster;
  let admin: AdminApi;
  beforeAll(async () => {
    const flags = { 'disable-admission-plugins': '' };
    real = await startRealCluster(assets ?? '', { apiServerFlags: flags });
    admin = await connectAsAdmin(real.kubeconfigFile);
  });
  afterAll(() => real.stop());

  async function makeNamespace(name: string, labels = {}): Promise<void> {
    const api = { apiVersion: 'v1' };
    await admin('POST', '/api/v1/namespaces', {
      ...api,
      kind: 'Namespace',
      metadata: { name, labels },
    });
    // A controller makes it elsewhere.
    const account = { ...api, kind: 'ServiceAccount', metadata: { name: 'default' } };
    await admin('POST', `/api/v1/namespaces/${name}/serviceaccounts`, account);
  }
  /** A controller gives a quota its status, and without it no quota holds. */
  async function make(namespace: string, [kind, body]: Made): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/${kind}`;
    await admin('POST', path, body);
    const { hard } = body.spec;
    if (hard === undefined) return;
    const used = Object.fromEntries(Object.keys(hard).map((what) => [what, '0']));
    await admin('PATCH', `${path}/strict/status`, { status: { hard, used } });
  }
  const examine = (namespace: string, spec?: object) =>
    checkCluster({
      kubeconfigFile: real.kubeconfigFile,
      pools: examplePools({
        pools: [{ namespace, ...(spec && { template: { spec: { containers: [], ...spec } } }) }],
      }).pools,
    });

  test('finds nothing in a namespace that takes the pod (H1)', async () => {
    await makeNamespace('well');
    expect(await examine('well')).toEqual([]);
  });

  test.each(Object.entries(ROWS))(
    'finds %s, and says what to do (H1)',
    async (what, [says, how]) => {
      const namespace = what.toLowerCase().replaceAll(/\W+/g, '-');
      await makeNamespace(namespace, how.labels);
      if (how.made !== undefined) await make(namespace, how.made);
      expect(await examine(namespace, how.spec)).toEqual([
        expect.objectContaining({ level: 'mend', sentence: expect.stringMatching(says) }),
      ]);
    },
  );

  test('finds a namespace that is not there, and one that is being deleted (H1)', async () => {
    expect(await examine('nowhere')).toEqual([
      expect.objectContaining({ sentence: expect.stringContaining(': create the namespace') }),
    ]);
    await makeNamespace('going');
    await admin('DELETE', '/api/v1/namespaces/going');
    expect(await examine('going')).toEqual([
      expect.objectContaining({
        sentence: expect.stringContaining(': the namespace is being deleted'),
      }),
    ]);
  });
});
