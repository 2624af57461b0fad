import { connectAsAdmin } from '@paddock/testing/admin-api';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import type { ChartObject } from '@paddock/testing/render-chart';
import { waitFor } from '@paddock/testing/wait-for';
import { collectionOf } from './collection-of.scene.ts';
import type { PlayedPod } from './played-pod.scene.ts';

/** A real API server with controllers and played nodes, and calls with all rights. */
export interface ChartCluster {
  readonly real: RealCluster;
  /** Server-side apply; returns the object as the API server keeps it. */
  apply(object: ChartObject): Promise<ChartObject>;
  /** The object of this kind and name; rejects if it is not there. */
  read(kind: string, namespace: string, name: string): Promise<ChartObject>;
  /** The objects with these labels, as `key=value,…`. */
  list(kind: string, namespace: string, labels: string): Promise<readonly ChartObject[]>;
  /** Merges into an object, or into its status. */
  patch(object: ChartObject, changes: object, part?: '' | '/status'): Promise<void>;
  /** A token that is valid as long as a pod or a Secret is there, as the kubelet requests one. */
  requestToken(
    account: { readonly namespace: string; readonly name: string },
    boundTo: ChartObject,
    seconds: number,
  ): Promise<string>;
  /** Whether the API server takes a token; rejects if it cannot say. */
  takesToken(token: string): Promise<boolean>;
  remove(object: ChartObject): Promise<void>;
  stop(): Promise<void>;
}

/** The group and version in which the test reads a kind. */
const API_VERSIONS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  EndpointSlice: 'discovery.k8s.io/v1',
};

const named = (kind: string, namespace: string, name: string): ChartObject => ({
  apiVersion: API_VERSIONS[kind] ?? 'v1',
  kind,
  metadata: { namespace, name },
});
const pathTo = (object: ChartObject): string => `${collectionOf(object)}/${object.metadata.name}`;

export async function startChartCluster(assets: string): Promise<ChartCluster> {
  const real = await startRealCluster(assets, {
    nodes: 1,
    // The admission of service accounts decides whether a pod gets a token, and where.
    apiServerFlags: { 'disable-admission-plugins': '' },
  });
  const admin = await connectAsAdmin(real.kubeconfigFile);
  return {
    real,
    apply: async (object) =>
      (await admin(
        'APPLY',
        `${pathTo(object)}?fieldManager=helm&fieldValidation=Strict`,
        object,
      )) as ChartObject,
    read: async (kind, namespace, name) =>
      (await admin('GET', pathTo(named(kind, namespace, name)))) as ChartObject,
    list: async (kind, namespace, labels) => {
      const { apiVersion, ...rest } = named(kind, namespace, '');
      const { items } = (await admin(
        'GET',
        `${collectionOf({ apiVersion, ...rest })}?labelSelector=${encodeURIComponent(labels)}`,
      )) as { items: object[] };
      // Items of a list do not say what they are.
      return items.map((item) => Object.assign(item, { apiVersion, kind }) as ChartObject);
    },
    patch: async (object, body, part = '') => {
      await admin('PATCH', `${pathTo(object)}${part}`, body);
    },
    requestToken: async ({ namespace, name }, { apiVersion, kind, metadata }, seconds) => {
      const { name: of, uid } = metadata as { name: string; uid?: string };
      const spec = {
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion, kind, name: of, uid },
      };
      const account = pathTo(named('ServiceAccount', namespace, name));
      const { status } = (await admin('POST', `${account}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec,
      })) as { status: { token: string } };
      return status.token;
    },
    takesToken: async (token) => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
      const { status } = (await admin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
        ...review,
        spec: { token },
      })) as { status: { authenticated?: boolean } };
      return status.authenticated === true;
    },
    remove: async (object) => {
      await admin('DELETE', pathTo(object));
    },
    stop: () => real.stop(),
  };
}

/** The pods that the cluster's controllers have made of a workload, once all are there. */
export const podsOf = (
  cluster: ChartCluster,
  namespace: string,
  component: string,
  count: number,
): Promise<readonly PlayedPod[]> =>
  waitFor(`${count} pods of ${component}`, async () => {
    const pods = await cluster.list('Pod', namespace, `app.kubernetes.io/component=${component}`);
    return pods.length === count && (pods as unknown as PlayedPod[]);
  });
