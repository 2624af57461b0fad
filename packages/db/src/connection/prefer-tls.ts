import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';

/**
 * As `prefer` of libpq, which is the meaning of a DSN that says nothing: encrypted if the server
 * can, unencrypted if it cannot.
 */
export type TlsOptions = (ConnectionOptions & { readonly isPreferred?: true }) | false;

/** The parts of node-postgres' connection that its types leave out. */
interface RawConnection {
  stream: Socket;
  connect(port: number | string, host?: string): void;
  attachListeners(stream: Socket): void;
  emit(event: 'sslconnect'): void;
}

const NO_TLS = 'N';

/**
 * A connection of node-postgres that goes on without TLS where TLS is only preferred and the server
 * has none.
 */
export class PreferringClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const ssl = typeof config === 'object' ? (config.ssl as TlsOptions | undefined) : undefined;
    if (ssl !== undefined && ssl !== false && ssl.isPreferred === true)
      goOnWithoutTls(this.connection as unknown as RawConnection);
  }
}

/**
 * node-postgres fails where the server answers its request for TLS with no; the server itself waits
 * for the start-up message.
 */
function goOnWithoutTls(connection: RawConnection): void {
  const connect = connection.connect.bind(connection);
  connection.connect = (port, host) => {
    connect(port, host);
    const { stream } = connection;
    const usual = stream.listeners('data') as ((answer: Buffer) => void)[];
    stream.removeAllListeners('data');
    stream.once('data', (answer: Buffer) => {
      if (answer.toString('latin1') !== NO_TLS) {
        for (const listener of usual) listener.call(stream, answer);
        return;
      }
      connection.attachListeners(stream);
      connection.emit('sslconnect');
    });
  };
}
