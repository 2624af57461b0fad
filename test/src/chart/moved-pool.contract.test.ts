import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { CHART, HELM, runHelm } from '@paddock/testing/render-chart';
import { LEAST, POOL } from '../scenes/chart-releases.scene.ts';

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
      Object.assign({ ...POOL }, { name: namespace, namespace }),
    ),
  },
});

described('a pool that moves to another namespace (needs helm and KUBEBUILDER_ASSETS)', () => {
  let real: RealCluster;
  let admin: AdminApi;
  let nth = 0;
  let [own, former, next] = ['', '', ''];
  beforeAll(async () => {
    real = await startRealCluster(assets);
    admin = await connectAsAdmin(real.kubeconfigFile);
  });
  afterAll(() => real.stop());
  beforeEach(async () => {
    nth++;
    [own, former, next] = [`paddock-${nth}`, `former-${nth}`, `next-${nth}`];
    for (const name of [own, former, next])
      await admin('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
  });

  const helm = (command: string, args: readonly string[], set?: object): string =>
    runHelm(
      [command, 'paddock', ...args, '-n', own, '--kubeconfig', real.kubeconfigFile].concat(
        set === undefined ? [] : ['--values', '-'],
      ),
      JSON.stringify({ ...LEAST, ...set }),
    );
  const path = (collection: string, namespace: string): string => {
    const [group, plural] = collection.split(' ');
    return `/apis/${group}/namespaces/${namespace}/${plural}?labelSelector=app.kubernetes.io/part-of=${own}.paddock`;
  };
  /** How many objects of each kind the release has in a namespace. */
  const objectsIn = async (namespace: string): Promise<Record<string, number>> =>
    Object.fromEntries(
      await Promise.all(
        COLLECTIONS.map(async (collection) => {
          const { items } = (await admin('GET', path(collection, namespace))) as {
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

    for (const collection of COLLECTIONS) await admin('DELETE', path(collection, former));
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
