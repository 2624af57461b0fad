import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

/**
 * A proxy that pools transactions. It answers all start-up messages itself, and passes each
 * client's messages up to the next point of synchronisation to its one backend. Enough for simple
 * queries outside of transactions, no more.
 */
export async function startPoolingProxy(url: string) {
  const backend = new pg.Client({ connectionString: url });
  await backend.connect();
  const { stream } = backend.connection;
  // From here on the stream is ours, and the client that logged in for us gets no more of it.
  stream.removeAllListeners();
  let served: Socket | undefined;
  const waiting: { client: Socket; query: Buffer }[] = [];

  const serveNext = () => {
    if (served !== undefined) return;
    const next = waiting.shift();
    if (next === undefined) return;
    served = next.client;
    stream.write(next.query);
  };
  stream.on('data', (answer: Buffer) => {
    served?.write(answer);
    // ReadyForQuery is the last message of an answer.
    if (answer.subarray(-6, -1).equals(READY.subarray(0, 5))) {
      served = undefined;
      serveNext();
    }
  });

  const server = createServer((client) => {
    let isStarted = false;
    client.on('error', () => client.destroy());
    client.on('data', (data: Buffer) => {
      if (isStarted) {
        // A client's goodbye ends here: the backend stays.
        if (data[0] !== 'X'.charCodeAt(0)) waiting.push({ client, query: data });
        serveNext();
      } else if (asksForTls(data)) client.write('N');
      else {
        isStarted = true;
        client.write(Buffer.concat([AUTHENTICATED, READY]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      stream.destroy();
      await closed;
    },
  };
}

/**
 * A start-up message that only asks whether TLS can be had: its length, and a number in place of a
 * version.
 */
export const asksForTls = (message: Buffer): boolean =>
  message.length === 8 && message.readInt32BE(4) === 80_877_103;

const AUTHENTICATED = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 0]);
const READY = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);
