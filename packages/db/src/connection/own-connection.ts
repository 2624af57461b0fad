import { setTimeout as sleep } from 'node:timers/promises';
import { createWake } from '@paddock/runtime/wake';
import type pg from 'pg';
import type { ConnectionConfig } from './connect.ts';
import { Client } from './client.ts';

export interface OwnConnectionOptions {
  readonly config: ConnectionConfig;
  /** The first statement of each session. */
  readonly begin?: { readonly text: string; readonly values: readonly unknown[] };
  /**
   * How long an answer may take before another connection is tried beside the open one, in
   * milliseconds.
   */
  readonly patienceMs: number;
  /** How long that other connection may take altogether, in milliseconds. */
  readonly limitMs: number;
}

/**
 * One connection beside the pool, for statements that must not wait behind others. It opens at its
 * first use, and again after a break.
 */
export interface OwnConnection {
  /**
   * Runs one statement that may also run twice. If its answer takes too long, another connection
   * tries it too, and the first to answer goes on. Rejects when the other one fails as well. The
   * open one is kept even then: it may only be slow, and PostgreSQL keeps its session and locks
   * while we do.
   */
  query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<R[]>;
  /**
   * Tries another connection at the next statement, because PostgreSQL seems to be gone from this
   * one.
   */
  suspectBreak(): void;
  /**
   * How long the connection has answered in time, in milliseconds; undefined: none is known to be
   * open.
   */
  answeringForMs(): number | undefined;
  close(): Promise<void>;
}

interface Session {
  readonly client: pg.Client;
  isOpen: boolean;
  /** Resolves when nothing waits for an answer. */
  idle: Promise<unknown>;
}

interface Answer<R> {
  readonly rows: R[];
  readonly from: Session;
}

/** `config` comes from `clientConfig`. */
export function ownConnection({
  config,
  begin,
  patienceMs,
  limitMs,
}: OwnConnectionOptions): OwnConnection {
  const suspicions = createWake();
  let standing: Session | undefined;
  let since = 0;
  let last: Promise<unknown> = Promise.resolve();

  function prepare(): Session {
    const client = new Client({
      ...config,
      connectionTimeoutMillis: Math.min(config.connectionTimeoutMillis, limitMs),
    });
    const session: Session = { client, isOpen: true, idle: Promise.resolve() };
    // A connection that breaks in use fails its statement; one that breaks while idle has nothing
    // to report.
    for (const event of ['error', 'end'] as const) {
      client.on(event, () => {
        session.isOpen = false;
      });
    }
    return session;
  }

  async function askAnew<R extends pg.QueryResultRow>(
    fresh: Session,
    text: string,
    values: readonly unknown[],
  ): Promise<Answer<R>> {
    const answer = (async () => {
      await fresh.client.connect();
      if (begin !== undefined) await fresh.client.query(begin.text, [...begin.values]);
      return (await fresh.client.query<R>(text, [...values])).rows;
    })();
    const late = sleep(limitMs, undefined, { ref: false }).then(() => {
      throw new Error(`PostgreSQL has not answered within ${limitMs} ms`);
    });
    return { rows: await Promise.race([answer, late]), from: fresh };
  }

  /** Queues behind statements that the connection may not have answered yet. */
  function askAgain<R extends pg.QueryResultRow>(
    held: Session,
    text: string,
    values: readonly unknown[],
  ): Promise<Answer<R>> {
    const answer = held.idle
      .then(() => held.client.query<R>(text, [...values]))
      .then(({ rows }) => ({ rows, from: held }));
    held.idle = answer.catch(() => undefined);
    return answer;
  }

  async function askBoth<R extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<R[]> {
    const held = standing?.isOpen === true ? standing : undefined;
    const answer = held && askAgain<R>(held, text, values);
    if (held !== undefined && answer !== undefined) {
      const over = new AbortController();
      const inTime = await Promise.race([answer, suspicions.wait(patienceMs, over.signal)]).catch(
        (error: unknown) => {
          if (held.isOpen) throw error;
        },
      );
      over.abort();
      if (inTime !== undefined) return inTime.rows;
    }
    const fresh = prepare();
    const anew = askAnew<R>(fresh, text, values);
    try {
      const { rows, from } = await Promise.race([anew, answer?.catch(() => anew) ?? anew]);
      anew.catch(() => undefined);
      const other = from === fresh ? held : fresh;
      standing = from;
      since = performance.now();
      if (other !== undefined) void other.client.end();
      return rows;
    } catch (error) {
      void fresh.client.end();
      since = performance.now();
      throw error;
    }
  }

  return {
    query(text, values) {
      const asked = last.then(() => askBoth(text, values));
      last = asked.catch((error: unknown) => config.outage?.failed(error, config));
      return asked as Promise<never>;
    },
    suspectBreak: () => suspicions.ring(),
    answeringForMs: () => (standing?.isOpen === true ? performance.now() - since : undefined),
    async close() {
      if (standing !== undefined) await standing.client.end();
    },
  };
}
