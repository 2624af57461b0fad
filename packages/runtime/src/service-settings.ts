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

/** Parameters that a connection takes, and limits: Paddock finds a silent server sooner. */
const TAKEN = new Set(
  `host port user password passfile options application_name fallback_application_name sslmode
  sslrootcert sslcert sslkey connect_timeout keepalives keepalives_idle keepalives_interval
  keepalives_count tcp_user_timeout`.split(/\s+/),
);

/** Parameters with the values for which a connection does at least as much without being told. */
const NEEDLESS: Readonly<Record<string, RegExp>> = {
  client_encoding: /^(auto|utf-?8)$/i,
  target_session_attrs: /^(any|read-write|primary)$/,
  load_balance_hosts: /^disable$/,
  channel_binding: /^(disable|prefer)$/,
  gssencmode: /^(disable|prefer)$/,
  sslnegotiation: /^postgres$/,
  sslsni: /^1$/,
};

/** The others of libpq. A name that is none of libpq's may be a part of a password. */
const OTHERS = new Set(
  `dbname database hostaddr service servicefile replication require_auth requirepeer requiressl ssl
  sslcompression sslpassword sslcertmode sslcrl sslcrldir sslkeylogfile ssl_min_protocol_version
  ssl_max_protocol_version min_protocol_version max_protocol_version krbsrvname gsslib gssdelegation
  scram_client_key scram_server_key oauth_issuer oauth_client_id oauth_client_secret oauth_scope`.split(
    /\s+/,
  ),
);

/**
 * What a DSN has that node-postgres would read as something else, or leave out without a word. Shows
 * nothing of it but names of parameters: the parser takes what follows an unescaped / ? or # of a
 * password for another part of the URL.
 */
function whatIsWrongWithDsn(value: string): string | undefined {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(value) ?? [];
  if (rest === undefined) return 'must be a URL that begins with postgresql://';
  const hosts = rest.split(/[/?#]/, 1)[0]?.split('@').at(-1);
  if (hosts?.includes(',') === true || /[?&]host=[^&]*(,|%2c)/i.test(value))
    return 'names several hosts, which Paddock does not support: name one address that leads to the primary, as a proxy, a Service or a DNS name that follows it';
  if (!URL.canParse(value) || new URL(value).hash !== '')
    return 'is no URL: write special characters of the user and the password in percent-encoding, such as %23 for # and %2F for /';
  const refused = [...new URL(value).searchParams]
    .filter(([name, given]) => !(TAKEN.has(name) || NEEDLESS[name]?.test(given) === true))
    .map(([name]) => name);
  if (refused.length === 0) return undefined;
  const known = refused.filter((name) => OTHERS.has(name) || name in NEEDLESS);
  return known.length === refused.length
    ? `has ${known.join(', ')}, which Paddock does not support, or not this value: leave it out (docs/network.md)`
    : 'has a parameter that PostgreSQL does not know: leave it out, and write special characters of the password in percent-encoding, such as %3F for ?';
}
