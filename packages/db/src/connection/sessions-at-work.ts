import type pg from 'pg';
import { endClient } from './end-client.ts';
import { sqlStateOf } from './errors.ts';
import { PreferringClient } from './prefer-tls.ts';
import { SESSION_ID } from './session.ts';

/** For connecting, and for the answer. */
const LIMIT_MS = 2_000;

/** Asks PostgreSQL over a new connection, within the limit. */
async function ask<T extends pg.QueryResultRow>(
  config: pg.ClientConfig,
  statement: string,
  sessions: readonly string[],
): Promise<T[]> {
  const limits = { connectionTimeoutMillis: LIMIT_MS, query_timeout: LIMIT_MS };
  const client = new PreferringClient({ ...config, ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<T>(statement, [sessions])).rows;
  } finally {
    await endClient(client);
  }
}

/**
 * PostgreSQL hides other roles' activity, and may not record it at all: a session without a state
 * counts as working.
 */
const WORKING = `select ${SESSION_ID} as id from pg_stat_activity where ${SESSION_ID} = any ($1::text[]) and (state is null or state not like 'idle%')`;

/** The sessions that are at work; undefined: PostgreSQL could not be asked. Never rejects. */
export async function findWorking(
  config: pg.ClientConfig,
  sessions: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await ask<{ id: string }>(config, WORKING, sessions)).map(({ id }) => id));
  } catch (error) {
    // PostgreSQL itself refused, for example because it has no connection left: it is there, and
    // all may be working.
    return sqlStateOf(error) === undefined ? undefined : new Set(sessions);
  }
}

const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity where ${SESSION_ID} = any ($1::text[]) and state like 'idle%'`;

/**
 * Ends the sessions of connections that were cut. If the network is broken but not the server, such
 * a session would keep its locks until the limit of an idle transaction. Never rejects: that limit
 * ends the rest.
 */
export const endSessions = (
  config: pg.ClientConfig,
  sessions: readonly string[],
): Promise<unknown> => ask(config, END_SESSIONS, sessions).catch(() => undefined);
