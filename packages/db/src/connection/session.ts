import type pg from 'pg';

/**
 * What each session sets for itself, over the settings of role and database. Statements are written
 * for read committed, and node-postgres reads dates, intervals and numbers in these forms only. No
 * proper role lacks the right to set any of them.
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

/** SQL over a row of pg_stat_activity: names one session, apart from those of any other server. */
export const SESSION_ID = `concat(pid, ' ', backend_start)`;

/**
 * What start-up options cannot say. A commit that waits for nothing makes each of our answers a
 * lie, and one that waits for a standby is more than we ask for, hence only `off` is replaced.
 * Limits of newer versions end what is rightly long or idle: other settings of ours limit both.
 * Triggers that do not fire wake no one, and only a superuser may make them fire.
 */
const BEGIN_SESSION = `
  select (select ${SESSION_ID} from pg_stat_activity where pid = pg_backend_pid()) as id,
    case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end,
    case when current_setting('transaction_timeout', true) <> '0' then set_config('transaction_timeout', '0', false) end,
    case when current_setting('idle_session_timeout', true) <> '0' then set_config('idle_session_timeout', '0', false) end,
    current_setting('session_replication_role') = 'replica' as "isReplica",
    array(select name || ' = ' || current_setting(name)
          from (values ${Object.entries(PINNED)
            .map(([name, value]) => `('${name}', '${value}')`)
            .join(', ')}) pinned (name, value)
          where current_setting(name) <> value) as differing`;

interface Row {
  readonly id: string;
  readonly isReplica: boolean;
  readonly differing: readonly string[];
}

/**
 * The first statement of a session: answers its id. Rejects, with what to do, if the session is not
 * what our statements are written for.
 */
export async function beginSession(client: pg.ClientBase, limitMs: number): Promise<string> {
  // The types do not know that a statement may have a limit of its own.
  const statement: pg.QueryConfig & { query_timeout: number } = { text: BEGIN_SESSION, query_timeout: limitMs };
  const [row] = (await client.query<Row & pg.QueryResultRow>(statement)).rows;
  if (row === undefined) throw new Error('PostgreSQL answered the first statement of a session without a row.');
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
  return row.id;
}
