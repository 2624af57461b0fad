import type pg from 'pg';
import type { Client } from './client.ts';

/**
 * The settings of each session, over those of role and database. Our statements are written for
 * read committed, and node-postgres reads only these forms of dates, intervals and numbers. Every
 * proper role may set them.
 */
const PINNED = {
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
} as const;

/** Settings as the start-up option that PostgreSQL reads them from. */
export const startupOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries({ ...settings, ...PINNED })
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, String.raw`\$&`)}`)
    .join(' ');

/**
 * Settings that start-up options cannot set. A commit that does not wait for the disk would make
 * our answers a lie, so `off` is replaced; one that waits for a standby stays. Newer versions'
 * limits would end sessions that are rightly long or idle; our other settings limit both. Only a
 * superuser may set triggers not to fire.
 */
const BEGIN_SESSION = `
  select case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end,
    case when current_setting('transaction_timeout', true) <> '0' then set_config('transaction_timeout', '0', false) end,
    case when current_setting('idle_session_timeout', true) <> '0' then set_config('idle_session_timeout', '0', false) end,
    current_setting('session_replication_role') = 'replica' as "isReplica",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    array(select name || ' = ' || current_setting(name)
          from (values ${Object.entries(PINNED)
            .map(([name, value]) => `('${name}', '${value}')`)
            .join(', ')}) pinned (name, value)
          where current_setting(name) <> value) as differing`;

interface Row {
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
  readonly differing: readonly string[];
}

/**
 * Runs the first statement of a session. Rejects, and says what to do, if the session lacks the
 * settings that our statements need.
 */
export async function beginSession(client: Client, limitMs: number): Promise<void> {
  // The types do not know that a statement may have a limit of its own.
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text: BEGIN_SESSION,
    query_timeout: limitMs,
  };
  const [row] = (await client.query<Row & pg.QueryResultRow>(statement)).rows;
  if (row === undefined)
    throw new Error('PostgreSQL answered the first statement of a session without a row.');
  if (row.differing.length > 0) {
    throw new Error(
      `PostgreSQL has not taken our start-up options (${row.differing.join(', ')}): a proxy on the way drops them; connect to PostgreSQL itself, or let the proxy pass them on`,
    );
  }
  if (row.isReplica) {
    throw new Error(
      'session_replication_role is replica, so that our triggers do not fire: reset it for the role and the database (alter role … reset session_replication_role)',
    );
  }
  client.isReadOnly = row.isReadOnly;
}
