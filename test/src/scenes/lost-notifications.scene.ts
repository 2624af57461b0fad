import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Trouble =
  /** Notifications get lost on the way; all else passes. */
  | 'swallow'
  /** Listeners lose the connection. */
  | 'cut';

/** A relay between services and PostgreSQL; `hits` counts the notifications that it kept back. */
export interface LostNotifications {
  readonly url: string;
  readonly hits: () => number;
  stop(): Promise<void>;
}

/**
 * Takes the notifications out of PostgreSQL's connections, whose messages are a letter, a length
 * that counts itself, and a body.
 */
export async function loseNotifications(
  databaseUrl: string,
  trouble: Trouble,
): Promise<LostNotifications> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let hits = 0;
  const hit = () => (hits += 1);

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A connection that breaks breaks on both sides; its user reports it.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (trouble === 'cut' && chunk.includes('listen "')) {
        hit();
        client.destroy();
      } else upstream.write(chunk);
    });
    const pass = trouble === 'swallow' ? withoutNotifications(hit) : (chunk: Buffer) => chunk;
    upstream.on('data', (chunk: Buffer) => client.write(pass(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  // The answer to a request for TLS would be a letter alone.
  url.searchParams.set('sslmode', 'disable');
  return {
    url: url.href,
    hits: () => hits,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const NOTIFICATION = 'A'.charCodeAt(0);

function withoutNotifications(onHit: () => void): (chunk: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const passed: Buffer[] = [];
    while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
      const message = rest.subarray(0, 1 + rest.readInt32BE(1));
      rest = rest.subarray(message.length);
      if (message[0] === NOTIFICATION) onHit();
      else passed.push(message);
    }
    return Buffer.concat(passed);
  };
}
