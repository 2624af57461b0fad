import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ChartObject } from '@paddock/testing/render-chart';
import type { ChartCluster } from './chart-cluster.scene.ts';

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
export async function playService(
  cluster: ChartCluster,
  service: ChartObject,
  host: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
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
  const server = createServer((asked, answer) => {
    forward(asked, answer).catch(() => answer.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
