import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { sqlStateOf } from './errors.ts';
import { namedIfMarked } from './prepared.ts';
import { readPassword } from './read-password.ts';

/** As `prefer` of libpq, the default of a DSN: encrypted if the server can, else unencrypted. */
export type TlsOptions = (ConnectionOptions & { readonly isPreferred?: true }) | false;

export interface ClientOptions extends pg.ClientConfig {
  /** Longest wait for the answer to one statement, in milliseconds; absent for no limit. */
  readonly answerLimitMs?: number | undefined;
  /** The file that has the password if neither the DSN nor PGPASSWORD does. */
  readonly passfile?: string;
  /** Called when we cut the connection. */
  readonly onCut?: ((error: SilentConnection) => void) | undefined;
  /** Called for each statement that fails. */
  readonly onFailure?: (error: unknown) => void;
}

/** We closed a connection because PostgreSQL had gone silent on it, or seemed to. */
export class SilentConnection extends Error {
  override readonly name = 'SilentConnection';

  /** Whether no other connection had told before that PostgreSQL was away. */
  readonly isNews: boolean;

  constructor(message: string, isNews: boolean) {
    super(message);
    this.isNews = isNews;
  }
}

/** How long the server may take to close a connection that we have closed. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * A connection of node-postgres that does not wait for ever: a dead host sends nothing, and the
 * system waits for a quarter of an hour. It also goes on without TLS where TLS is only preferred
 * and the server has none.
 */
export class Client extends pg.Client {
  readonly #onCut: ClientOptions['onCut'];
  readonly #unanswered = new Set<Promise<unknown>>();
  /**
   * A session without writes: at a standby that a failover left at the address, at a server that
   * others have left, or with a default that changes. It may stay so although PostgreSQL takes writes
   * by now.
   */
  isReadOnly = false;

  constructor(options: ClientOptions = {}) {
    super(options);
    this.#onCut = options.onCut;
    const connection = this.connection as unknown as RawConnection;
    // node-postgres leaves one open that lacks a password. PostgreSQL waits a minute for it, and counts it.
    connection.on('error', () => connection.stream.destroy());
    const ssl = options.ssl as TlsOptions | undefined;
    if (ssl !== undefined && ssl !== false && ssl.isPreferred === true) goOnWithoutTls(connection);
    const login = this as Login;
    const { passfile } = options;
    // Called when the server asks for a password: a changed file is in force at once.
    if (login.password === null && passfile !== undefined)
      login.password = () => readPassword(passfile, this);
    this.#watchAnswers(options);
  }

  /** Also prepares marked statements: Kysely has no way to ask for it. */
  #watchAnswers({ answerLimitMs, onFailure }: ClientOptions): void {
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    const watched = (text: unknown, ...rest: unknown[]) => {
      const answer = query(namedIfMarked(text), ...rest);
      if (!(answer instanceof Promise)) return answer;
      this.#unanswered.add(answer);
      const timer =
        answerLimitMs === undefined
          ? undefined
          : setTimeout(() => this.#cutSilent(answerLimitMs), answerLimitMs);
      const answered = () => {
        clearTimeout(timer);
        this.#unanswered.delete(answer);
      };
      answer.then(answered, (error: unknown) => {
        answered();
        if (sqlStateOf(error) === '25006') this.isReadOnly = true;
        onFailure?.(error);
      });
      return answer;
    };
    this.query = watched as typeof this.query;
  }

  /**
   * After an outage: cuts the connection unless PostgreSQL answers its statements of this moment
   * within `ms`. Such a cut is no news. If it counted as the beginning of another outage, a slow
   * PostgreSQL would never get rid of them.
   */
  expectAnswers(ms: number): void {
    const expected = [...this.#unanswered];
    const check = () => {
      if (expected.some((answer) => this.#unanswered.has(answer))) this.#cutSilent(ms, false);
    };
    setTimeout(check, ms).unref();
  }

  #cutSilent(ms: number, isNews = true): void {
    this.cut(`PostgreSQL has not answered for ${ms} ms`, isNews);
  }

  /** Closes the socket at once. Statements without an answer fail. */
  cut(why: string, isNews = true): void {
    const error = new SilentConnection(`${why}: closed the connection`, isNews);
    this.#onCut?.(error);
    this.connection.stream.destroy(error);
  }

  /** Closes the socket itself if the server does not answer. Never rejects. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    setTimeout(() => this.connection.stream.destroy(), CLOSE_LIMIT_MS).unref();
    return callback === undefined ? super.end() : super.end(callback);
  }
}

/** What the types of node-postgres call a text that is only read. */
interface Login {
  password: string | (() => string) | null;
}

/** The parts of node-postgres' connection that its types leave out. */
interface RawConnection {
  stream: Socket;
  connect(port: number | string, host?: string): void;
  attachListeners(stream: Socket): void;
  emit(event: 'sslconnect'): void;
  on(event: 'error', listener: () => void): void;
}

const NO_TLS = 'N';

/** node-postgres fails if the server has no TLS; the server waits for the start-up message. */
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
