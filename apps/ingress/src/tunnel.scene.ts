import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to PostgreSQL that can be cut, or can swallow everything as a dead host does. */
export async function startTunnel(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((inbound) => {
    const outbound = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (data) => {
        if (!isSilent) other.write(data);
      });
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    url: through.href,
    /** Ends all connections and accepts no more. */
    cut: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: () => listen(port),
    /** Connections are accepted, and nothing is passed on any more, in either direction. */
    setSilent: (silent: boolean) => {
      isSilent = silent;
    },
  };
}
