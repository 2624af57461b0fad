import { collectionOf, connectAsAdmin } from '@paddock/testing/admin-api';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import type { ChartObject, Labels } from '@paddock/testing/render-chart';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** The group and version in which the test reads a kind. */
const API_VERSIONS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  EndpointSlice: 'discovery.k8s.io/v1',
  Job: 'batch/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
};

/** Without a namespace, that of each. */
const named = (kind: string, namespace: string, name: string): ChartObject => ({
  apiVersion: API_VERSIONS[kind] ?? 'v1',
  kind,
  metadata: namespace === '' ? { name } : { namespace, name },
});
const pathTo = (object: ChartObject): string => `${collectionOf(object)}/${object.metadata.name}`;

export type ChartCluster = Awaited<ReturnType<typeof connectChartCluster>>;

/** Calls of an API server with all rights. */
export async function connectChartCluster(real: RealCluster) {
  const admin = await connectAsAdmin(real.kubeconfigFile);
  return {
    real,
    admin,
    /** Makes a namespace, or gives it other labels. */
    makeNamespace: (name: string, labels: Labels = {}) =>
      admin('APPLY', `/api/v1/namespaces/${name}?fieldManager=test`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels },
      }),
    /**
     * Server-side apply, which refuses an unknown field; returns the object as the API server keeps
     * it.
     */
    apply: async (object: ChartObject) =>
      (await admin(
        'APPLY',
        `${pathTo(object)}?fieldManager=helm&fieldValidation=Strict`,
        object,
      )) as LiveObject,
    /** The object of this kind and name; rejects if it is not there. */
    read: async (kind: string, namespace: string, name: string) =>
      (await admin('GET', pathTo(named(kind, namespace, name)))) as ChartObject,
    /** The objects with these labels, as `key=value,…`; of all namespaces, if it is ''. */
    list: async (kind: string, namespace: string, labels: string) => {
      const object = named(kind, namespace, '');
      const path = `${collectionOf(object)}?labelSelector=${encodeURIComponent(labels)}`;
      const { items } = (await admin('GET', path)) as { items: object[] };
      // Items of a list do not say what they are.
      const { apiVersion } = object;
      return items.map((item) => Object.assign(item, { apiVersion, kind }) as ChartObject);
    },
    /** Merges into an object, or into its status. */
    patch: (object: ChartObject, changes: object, part: '' | '/status' = '') =>
      admin('PATCH', `${pathTo(object)}${part}`, changes),
    /** A token that is valid as long as the pod is there, as the kubelet requests one. */
    async requestToken(
      pod: LiveObject & { readonly spec: { readonly serviceAccountName: string } },
      expirationSeconds: number,
    ): Promise<string> {
      const { apiVersion, kind, metadata, spec } = pod;
      const { namespace, name, uid } = metadata;
      const account = pathTo(named('ServiceAccount', namespace, spec.serviceAccountName));
      const { status } = (await admin('POST', `${account}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds, boundObjectRef: { apiVersion, kind, name, uid } },
      })) as { status: { token: string } };
      return status.token;
    },
  };
}

export interface LiveObject extends ChartObject {
  readonly metadata: ChartObject['metadata'] & {
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** A real API server with controllers and one played node. */
export const startChartCluster = async (assets: string): Promise<ChartCluster> =>
  connectChartCluster(
    await startRealCluster(assets, {
      nodes: 1,
      // The admission of service accounts decides whether a pod gets a token, and where.
      apiServerFlags: { 'disable-admission-plugins': '' },
    }),
  );

interface Endpoints {
  readonly ports: readonly { readonly name: string; readonly port?: number }[] | null;
  readonly endpoints:
    | readonly { readonly addresses: readonly string[]; readonly conditions: { ready?: boolean } }[]
    | null;
}

/** Pods' addresses are loopback addresses of this machine, which the API server refuses. */
export const podAddress = (loopback: string): string => loopback.replace(/^127\./, '10.');
const loopbackOf = (address: string): string => address.replace(/^10\./, '127.');

/** Where a Service leads: to the ready pods that the cluster's controllers have found for it. */
export async function endpointsOf(
  cluster: ChartCluster,
  { metadata: { namespace = '', name } }: ChartObject,
): Promise<{ host: string; port: number }[]> {
  const slices = await cluster.list(
    'EndpointSlice',
    namespace,
    `kubernetes.io/service-name=${name}`,
  );
  return (slices as unknown as Endpoints[]).flatMap(({ ports, endpoints }) =>
    (endpoints ?? [])
      .filter(({ conditions }) => conditions.ready === true)
      .flatMap(({ addresses: [address = ''] }) =>
        (ports ?? []).flatMap(({ port }) =>
          port === undefined ? [] : [{ host: loopbackOf(address), port }],
        ),
      ),
  );
}

/** Between two hops of HTTP. */
const OF_ONE_HOP = new Set(['connection', 'keep-alive']);

/**
 * Listens as a Service with a gateway before it, at the Service's port of an address, and hands each
 * request to the next pod on a connection of its own.
 */
export async function playService(cluster: ChartCluster, service: ChartObject, host: string) {
  const { spec } = service as unknown as { spec: { ports: readonly [{ port: number }] } };
  const [{ port }] = spec.ports;
  let turn = 0;
  const forward = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const found = await endpointsOf(cluster, service);
    const to = found[turn++ % found.length];
    if (to === undefined) throw new Error(`no pod is ready for ${service.metadata.name}`);
    const { method, url: path, headers } = asked;
    const toPod = request({ ...to, method, path, headers, agent: false });
    const answering = once(toPod, 'response') as Promise<[IncomingMessage]>;
    await Promise.all([pipeline(asked, toPod), answering]);
    const [given] = await answering;
    for (const [name, value = ''] of Object.entries(given.headers))
      if (!OF_ONE_HOP.has(name)) answer.setHeader(name, value);
    answer.statusCode = given.statusCode ?? 502;
    await pipeline(given, answer);
  };
  const failures: unknown[] = [];
  // Gateways outlast their clients: a connection that ends as a request comes loses it unseen.
  const server = createServer({ keepAliveTimeout: 0 }, (asked, answer) => {
    forward(asked, answer).catch((error: unknown) => {
      failures.push(error);
      answer.destroy();
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${port}`,
    /** Why requests had no answer. */
    failures,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
