import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
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

/** Listens as a Service at its port of an address, and hands each connection to the next pod. */
export async function playService(
  cluster: ChartCluster,
  service: ChartObject,
  host: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { spec } = service as unknown as { spec: { ports: readonly [{ port: number }] } };
  const [{ port }] = spec.ports;
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined); // a close follows
    return socket;
  };
  let turn = 0;
  const serve = async (caller: Socket): Promise<void> => {
    const found = await endpointsOf(cluster, service);
    const to = found[turn++ % found.length];
    if (to === undefined) {
      caller.destroy();
      return;
    }
    const pod = keep(connect(to));
    pod.on('close', () => caller.destroy());
    caller.on('close', () => pod.destroy());
    caller.pipe(pod).pipe(caller);
  };
  const server = createServer((caller) => {
    keep(caller);
    serve(caller).catch(() => caller.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${port}`,
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
