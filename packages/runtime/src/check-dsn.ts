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
export function whatIsWrongWithDsn(value: string): string | undefined {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(value) ?? [];
  if (rest === undefined) return 'must be a URL that begins with postgresql://';
  const hosts = rest.split(/[/?#]/, 1)[0]?.split('@').at(-1);
  if (hosts?.includes(',') === true || /[?&]host=[^&]*(,|%2c)/i.test(value))
    return 'names several hosts, which Paddock does not support: name one address that leads to the primary, as a proxy, a Service or a DNS name that follows it';
  if (!URL.canParse(value) || new URL(value).hash !== '')
    return 'is no URL: write special characters of the user and the password in percent-encoding, such as %23 for # and %2F for /';
  const refused = [...new URL(value).searchParams]
    .filter(([name, text]) => !(TAKEN.has(name) || NEEDLESS[name]?.test(text) === true))
    .map(([name]) => name);
  if (refused.length === 0) return undefined;
  const known = refused.filter((name) => OTHERS.has(name) || name in NEEDLESS);
  return known.length === refused.length
    ? `has ${known.join(', ')}, which Paddock does not support, or not this value: leave it out (docs/network.md)`
    : 'has a parameter that PostgreSQL does not know: leave it out, and write special characters of the password in percent-encoding, such as %3F for ?';
}
