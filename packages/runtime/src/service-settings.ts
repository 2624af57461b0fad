import { LOG_LEVELS } from './logger.ts';
import { choice, integer, optional, secret, text } from './settings.ts';

/** What every service reads. Times carry their unit in the name; numbers are the defaults of the documentation. */
export const serviceSettings = {
  databaseUrl: secret({
    env: 'DATABASE_URL',
    aliases: ['POSTGRES_URL'],
    doc: 'DSN of PostgreSQL, postgresql://user:password@host:5432/database?sslmode=verify-full&sslrootcert=…',
    check: whatIsWrongWithDsn,
  }),
  sslMode: optional(
    choice({
      env: 'PGSSLMODE',
      doc: 'sslmode of the connections to PostgreSQL where DATABASE_URL names none, as for libpq',
      of: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
    }),
  ),
  schema: text({
    env: 'PADDOCK_SCHEMA',
    doc: 'Schema of this environment; several environments can share one database',
    default: 'paddock',
    pattern: /^(?!pg_)[a-z_][a-z0-9_]{0,50}$/,
    hint: 'must be a plain lower-case identifier of at most 51 bytes that does not begin with pg_',
  }),
  httpHost: text({ env: 'PADDOCK_HTTP_HOST', doc: 'Address to listen on', default: '0.0.0.0' }),
  logLevel: choice({ env: 'PADDOCK_LOG_LEVEL', doc: 'Least important level that is logged', of: LOG_LEVELS, default: 'info' }),
  drainMs: integer({
    env: 'PADDOCK_DRAIN_MS',
    doc: 'Longest time for finishing work after SIGTERM or SIGINT',
    default: 30_000,
    min: 0,
    max: 3_600_000,
  }),
};

/** Anything after an unescaped / ? or # of a password would be taken for something else, and be shown in an error. */
function whatIsWrongWithDsn(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(value)) return 'must be a URL that begins with postgresql://';
  if (URL.canParse(value) && new URL(value).hash === '') return undefined;
  return 'is no URL: write special characters of the user and the password in percent-encoding, such as %23 for # and %2F for /';
}
