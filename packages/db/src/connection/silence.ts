import type pg from 'pg';
import type { ConnectionConfig } from './connect.ts';
import { CLOSE_LIMIT_MS } from './end-client.ts';
import { endSessions, findWorking } from './sessions-at-work.ts';

/**
 * After this time without an answer the watch asks about a statement; nearly all are answered
 * within milliseconds.
 */
const SUSPECT_AFTER_MS = 2_000;
const TICK_MS = 500;
/** PostgreSQL may be silent for the longest statement and this time more. */
const BEYOND_LONGEST_MS = 5_000;

/** A connection was closed by us because PostgreSQL had gone silent on it. */
export class SilentConnection extends Error {
  override readonly name = 'SilentConnection';
}

/**
 * We closed a connection while it was not in use, because PostgreSQL seemed to have gone from its
 * other end.
 */
export class DroppedConnection extends Error {
  override readonly name = 'DroppedConnection';
}

export interface SilenceOptions {
  readonly pool: pg.Pool;
  /** To ask PostgreSQL over a new connection. */
  readonly config: ConnectionConfig;
  /** The session's id. */
  readonly sessionOf: (client: pg.PoolClient) => string;
  /** Called once each time that connections were cut. */
  readonly onCut: (error: SilentConnection) => void;
}

export interface SilenceWatch {
  /** Closes idle connections, because PostgreSQL seems to be gone. Returns how many. */
  dropIdle(): number;
  /** Closes the pool by `end`; destroys idle connections that do not answer. */
  close(end: () => Promise<void>): Promise<void>;
}

interface Use {
  statement: unknown;
  since: number;
}

/**
 * Cuts connections of a pool on which PostgreSQL has gone silent: a dead host sends nothing, and
 * the system waits for a quarter of an hour. A time limit would also end statements that are
 * rightly long. So the watch asks PostgreSQL over a new connection whether the session is at work.
 * If not, the statement fails, and idle connections close too: the pool would hand them out next.
 */
export function cutSilent({ pool, config, sessionOf, onCut }: SilenceOptions): SilenceWatch {
  const open = new Set<pg.PoolClient>();
  const used = new Map<pg.PoolClient, Use>();
  // Where a statement may last for ever, as in a migration, only the system's keep-alive can end
  // the wait.
  const longestMs =
    config.longestStatementMs === 0
      ? Number.POSITIVE_INFINITY
      : config.longestStatementMs + BEYOND_LONGEST_MS;
  let isLooking = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  pool.on('connect', (client) => open.add(client));
  pool.on('acquire', (client) =>
    used.set(client, { statement: undefined, since: performance.now() }),
  );
  pool.on('release', (_error, client) => used.delete(client));
  pool.on('remove', (client) => open.delete(client));

  const findIdle = () => [...open].filter((client) => !used.has(client));
  const dropIdle = () => {
    const idle = findIdle();
    for (const client of idle) {
      open.delete(client);
      // So the pool forgets it at once, not only at the end of the socket.
      client.emit('error', new DroppedConnection('closed while idle'));
      client.connection.stream.destroy();
    }
    return idle.length;
  };
  const cut = (silent: readonly pg.PoolClient[], reason: string) => {
    const error = new SilentConnection(
      `${reason}: closed ${silent.length} connections in use and ${dropIdle()} idle ones`,
    );
    onCut(error);
    for (const client of silent) client.connection.stream.destroy(error);
  };

  async function look(suspects: readonly (readonly [pg.PoolClient, Use])[]): Promise<void> {
    const asked = suspects.map(([client, { statement, since }]) => ({
      client,
      session: sessionOf(client),
      statement,
      since,
    }));
    const working = await findWorking(
      config,
      asked.map(({ session }) => session),
    );
    const now = performance.now();
    if (working !== undefined) answeredAt = now;
    // A statement that was answered meanwhile was only slow.
    const still = asked.filter(
      ({ client, statement }) => used.has(client) && statementOf(client) === statement,
    );
    const silent = still.filter(({ session, since }) =>
      working === undefined ? now - Math.max(since, answeredAt) > longestMs : !working.has(session),
    );
    if (silent.length === 0) return;
    cut(
      silent.map(({ client }) => client),
      working === undefined ? 'PostgreSQL has gone silent' : 'PostgreSQL has lost our sessions',
    );
    await endSessions(
      config,
      silent.map(({ session }) => session),
    );
  }

  function tick(): void {
    const now = performance.now();
    for (const [client, use] of used) {
      const statement = statementOf(client);
      if (statement !== use.statement) Object.assign(use, { statement, since: now });
    }
    const suspects = [...used].filter(
      ([, { statement, since }]) => statement !== undefined && now - since >= SUSPECT_AFTER_MS,
    );
    if (isLooking || suspects.length === 0) return;
    isLooking = true;
    void look(suspects).finally(() => {
      isLooking = false;
    });
  }

  const ticking = setInterval(tick, TICK_MS).unref();
  return {
    dropIdle,
    async close(end) {
      const breaking = setTimeout(() => {
        for (const client of findIdle()) client.connection.stream.destroy();
      }, CLOSE_LIMIT_MS);
      await end();
      clearTimeout(breaking);
      clearInterval(ticking);
    },
  };
}

/**
 * The statement that the connection waits for, by identity. node-postgres has it under a name that
 * its types omit.
 */
function statementOf(client: pg.PoolClient): unknown {
  const { _getActiveQuery: active } = client as unknown as { _getActiveQuery(): unknown };
  return active.call(client) ?? undefined;
}
