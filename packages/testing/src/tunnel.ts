import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Tunnel = Awaited<ReturnType<typeof startTunnel>>;

interface Passage {
  readonly inbound: Socket;
  readonly outbound: Socket;
  /** The server has died silently, and another server has its address. */
  isOrphan: boolean;
}

/**
 * An address of this machine without other listeners. At 127.0.0.1 another test may get the port of
 * a cut tunnel and answer in its place. Only Linux has all of 127.0.0.0/8 by default.
 */
const ownAddress = (): string =>
  process.platform === 'linux'
    ? `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`
    : '127.0.0.1';

/**
 * A connection to PostgreSQL or an API server that a test can cut, silence as a dead host does, or hold back as a
 * broken network does. A client's connection is cut instead of passing on what `isCut` says.
 */
export async function startTunnel(
  url: string,
  isCut: (sent: Buffer | string) => boolean = () => false,
) {
  const target = new URL(url);
  const passages = new Set<Passage>();
  let isSilent = false;
  let isHeld = false;
  let silenced = 0;
  // A dead host does not answer a goodbye either.
  const server = createServer({ allowHalfOpen: true }, (inbound) => {
    const outbound = connect(Number(target.port), target.hostname);
    const passage = { inbound, outbound, isOrphan: false };
    passages.add(passage);
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      socket.on('data', (data) => {
        if (socket === inbound && isCut(data)) inbound.destroy();
        else if (!isSilent && !passage.isOrphan) other.write(data);
      });
      if (isHeld) socket.pause();
      socket.on('end', () => {
        if (!isSilent && !passage.isOrphan) socket.end();
      });
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        if (!passage.isOrphan) other.destroy();
        if (inbound.destroyed && outbound.destroyed) passages.delete(passage);
      });
    }
  });
  const host = ownAddress();
  const listen = async (port: number) => {
    server.listen(port, host);
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.hostname = host;
  through.port = String(port);
  const breakAll = (): void => {
    for (const { inbound, outbound } of passages)
      for (const socket of [inbound, outbound]) socket.destroy();
  };
  return {
    url: through.href,
    /** Ends all connections; new ones work. */
    breakAll,
    /** Ends all connections and accepts no more. */
    cut: async () => {
      const closed = once(server, 'close');
      server.close();
      breakAll();
      await closed;
    },
    mend: () => listen(port),
    /** Accepts connections, but passes nothing on in either direction. */
    setSilent: (silent: boolean) => {
      isSilent = silent;
    },
    /** The same, but the data arrives afterwards, even if its sender gave up long ago. */
    setHeld: (held: boolean) => {
      isHeld = held;
      if (held) silenced += passages.size;
      for (const { inbound, outbound } of passages)
        for (const socket of [inbound, outbound]) void (held ? socket.pause() : socket.resume());
    },
    /** How many connections were held back or left silent so far. */
    silenced: () => silenced,
    /**
     * Connections that are open now are silent for ever, and their server loses its client. Later
     * ones work. This is what happens when another server takes over the address of a dead one.
     */
    replaceServer: () => {
      for (const { outbound } of strand()) outbound.destroy();
    },
    /**
     * The same for our end. The server has not noticed, and keeps its sessions with their locks.
     */
    strandAll: () => void strand(),
  };

  /** Disconnects the two ends of all connections for good. */
  function strand(): Passage[] {
    const left = [...passages].filter(({ isOrphan }) => !isOrphan);
    for (const passage of left) passage.isOrphan = true;
    silenced += left.length;
    return left;
  }
}
