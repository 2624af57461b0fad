import { whatIsWrongWithDsn } from './check-dsn.ts';
import { LOG_LEVELS } from './logger.ts';
import { choice, duration, port, type Setting, optional, secret, text } from './settings.ts';

/** Settings of every service. */
export const serviceSettings = {
  databaseUrl: secret({
    env: 'DATABASE_URL',
    aliases: ['POSTGRES_URL'],
    doc: 'DSN of PostgreSQL: postgresql://user:password@host:5432/database?sslmode=verify-full&sslrootcert=…',
    check: whatIsWrongWithDsn,
  }),
  sslMode: optional(
    choice({
      env: 'PGSSLMODE',
      doc: 'The sslmode for PostgreSQL where DATABASE_URL names none, as in libpq',
      of: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
    }),
  ),
  passFile: optional(
    text({
      env: 'PGPASSFILE',
      doc: 'File of passwords for PostgreSQL, as in libpq, where DATABASE_URL has neither a password nor `passfile`. Each new connection reads it',
    }),
  ),
  schema: text({
    env: 'PADDOCK_SCHEMA',
    default: 'paddock',
    doc: 'Schema of this environment. Several environments can share one database',
    pattern: /^(?!pg_)[a-z_][a-z0-9_]{0,50}$/,
    hint: 'must be a plain lower-case identifier of at most 51 bytes that does not begin with pg_',
  }),
  configPath: text({
    env: 'PADDOCK_CONFIG',
    doc: 'Path of the configuration file (YAML): GitHub Apps, pools, entities',
  }),
  httpHost: optional(
    text({
      env: 'PADDOCK_HTTP_HOST',
      doc: 'Address to listen on. Without it a service listens on all addresses of the machine, IPv4 and IPv6',
    }),
  ),
  logLevel: choice({
    env: 'PADDOCK_LOG_LEVEL',
    default: 'info',
    doc: 'Least important level to log',
    of: LOG_LEVELS,
  }),
  drainMs: duration({
    env: 'PADDOCK_DRAIN_MS',
    default: 30_000,
    max: 3_600_000,
    doc: 'How long a service may finish its work after SIGTERM or SIGINT. Raise the pod’s termination grace period with it',
  }),
};

/** Each service has a default of its own, for one machine may run them all. */
export const httpPort = (usual: number): Setting<number> =>
  port({
    env: 'PADDOCK_PUBLIC_PORT',
    default: usual,
    doc: 'Port of the webhook, or of the page and the API; 0 picks a free one',
  });

export const healthPort = (usual: number): Setting<number> =>
  port({
    env: 'PADDOCK_HEALTH_PORT',
    default: usual,
    doc: 'Port of health and metrics; 0 picks a free one',
  });
