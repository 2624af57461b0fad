import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Client } from '@paddock/db/connection/client';
import { clientConfig } from '@paddock/db/connection/connect';

/** A start-up message that only asks for TLS has this in place of a version. */
const TLS_REQUEST = 80_877_103;

/** The client is in: no password, and the server waits for a statement. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

interface Backend {
  readonly socket: Socket;
  /** The client whose transaction it runs. */
  user: Socket | undefined;
}

/**
 * A proxy before PostgreSQL that gives each transaction the connection that has rested for longest,
 * as one that pools transactions. Its connections have the options of a service's.
 */
export async function startPoolingProxy(url: string, schema: string) {
  const config = clientConfig({ url, schema, applicationName: 'pooled' });
  const clients = [1, 2, 3].map(() => new Client(config));
  const resting: Backend[] = [];
  const waiting: (() => void)[] = [];
  for (const client of clients) {
    // Its end is not of interest.
    client.on('error', () => undefined);
    await client.connect();
    const { stream: socket } = client.connection as unknown as { stream: Socket };
    socket.removeAllListeners('data');
    const backend: Backend = { socket, user: undefined };
    socket.on('data', (answer: Buffer) => {
      backend.user?.write(answer);
      // Ready for a query, outside of a transaction: the end of an answer.
      if (!answer.subarray(-6).equals(WELCOME.subarray(-6))) return;
      backend.user = undefined;
      resting.push(backend);
      waiting.shift()?.();
    });
    resting.push(backend);
  }
  const sockets = new Set<Socket>();

  const serve = (user: Socket): void => {
    let isStarted = false;
    const pass = (message: Buffer): void => {
      const backend = [...held.values()].find((one) => one.user === user) ?? resting.shift();
      if (backend === undefined) return void waiting.push(() => pass(message));
      backend.user = user;
      held.add(backend);
      backend.socket.write(message);
    };
    const held = new Set<Backend>();
    user.on('error', () => user.destroy());
    user.on('close', () => sockets.delete(user));
    user.on('data', (message: Buffer) => {
      if (isStarted) {
        // A farewell is for the proxy.
        if (message[0] === 0x58) user.end();
        else pass(message);
        return;
      }
      const asksForTls = message.length === 8 && message.readInt32BE(4) === TLS_REQUEST;
      isStarted = !asksForTls;
      user.write(asksForTls ? 'N' : WELCOME);
    });
    sockets.add(user);
  };
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    async stop(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      for (const client of clients) client.cut('The test is over');
    },
  };
}
