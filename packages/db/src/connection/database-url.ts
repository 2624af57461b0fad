import type { Logger } from '@paddock/runtime/logger';
import type { Secret } from '@paddock/runtime/secret';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '@paddock/runtime/config-error';
import type { TlsOptions } from './client.ts';

/** As the settings of a service have them. */
export interface DatabaseSettings {
  readonly databaseUrl: Secret;
  readonly sslMode: string | undefined;
  readonly passFile?: string | undefined;
}

/**
 * The URL to connect with: as for libpq, PGSSLMODE and PGPASSFILE count where the URL itself says
 * nothing.
 */
export function databaseUrl({ databaseUrl: given, ...others }: DatabaseSettings): string {
  const url = new URL(given.reveal());
  const missing = Object.entries({ sslmode: others.sslMode, passfile: others.passFile }).filter(
    ([name, value]) => value !== undefined && !url.searchParams.has(name),
  );
  for (const [name, value = ''] of missing) url.searchParams.set(name, value);
  return missing.length === 0 ? given.reveal() : url.href;
}

/** The host of a URL that does not say how to encrypt, on another machine. */
export function unguardedHost(url: string): string | undefined {
  const { searchParams, hostname } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  return searchParams.has('sslmode') || isThisMachine(host) ? undefined : host;
}

/** What to say of such a host. */
export const UNGUARDED =
  'the connection to PostgreSQL may be unencrypted, and the identity of the server is not checked: write sslmode=verify-full into DATABASE_URL, or set PGSSLMODE';

/** The URL to connect with; warns where the URL of another host does not say how to encrypt. */
export function guardedDatabaseUrl(settings: DatabaseSettings, log: Logger): string {
  const url = databaseUrl(settings);
  const host = unguardedHost(url);
  if (host !== undefined) log.warn(UNGUARDED, { host });
  return url;
}

/** A socket's folder, a name or an address of the loopback interface, or no host at all. */
const isThisMachine = (host: string): boolean =>
  host === '' || /^(\/|%2f|localhost$|127\.|\[?::1\]?$)/i.test(host);

const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
/** Start-up options of the DSN would replace all our options. */
const OPTIONS = 'options';
const PASSFILE = 'passfile';

export interface SeparatedDsn {
  /** The DSN for node-postgres. */
  readonly dsn: string;
  readonly ssl: TlsOptions;
  /** The DSN's own start-up options; empty: none. */
  readonly options: string;
  /** The file of passwords. */
  readonly passfile?: string;
}

/**
 * Takes the `ssl…` parameters out of a DSN and gives them the meaning that PostgreSQL documents;
 * node-postgres 8 reads `require` as `verify-full`. Start-up options are taken out too: ours follow
 * them. Source: https://www.postgresql.org/docs/current/libpq-ssl.html. Throws ConfigError for an
 * unknown mode and for a file that cannot be read.
 */
export function separateParameters(dsn: string): SeparatedDsn {
  const url = new URL(dsn);
  const given = Object.fromEntries(
    SSL_PARAMETERS.map((name) => [name, url.searchParams.get(name) ?? undefined]),
  );
  const options = url.searchParams.get(OPTIONS) ?? '';
  const passfile = url.searchParams.get(PASSFILE) ?? '';
  for (const name of [...SSL_PARAMETERS, OPTIONS, PASSFILE]) url.searchParams.delete(name);
  const file = passfile === '' ? {} : { passfile };
  return { dsn: url.href, ssl: tlsOptions(given), options, ...file };
}

function tlsOptions(given: Record<string, string | undefined>): TlsOptions {
  const { sslmode = 'prefer', sslrootcert } = given;
  const files = followedFiles(given);
  switch (sslmode) {
    case 'disable':
      return false;
    case 'prefer':
      return Object.assign(files, { rejectUnauthorized: false, isPreferred: true as const });
    case 'require':
      // As libpq does: with a root certificate at hand, `require` checks the chain.
      return sslrootcert === undefined
        ? Object.assign(files, { rejectUnauthorized: false })
        : withoutHostCheck(files);
    case 'verify-ca':
      return withoutHostCheck(files);
    case 'verify-full':
      return Object.assign(files, { rejectUnauthorized: true });
    default:
      throw new ConfigError([
        `sslmode=${sslmode} is not supported in the database URL: use disable, prefer, require, verify-ca or verify-full`,
      ]);
  }
}

const OPTIONS_OF_FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;

/** Each connection reads the files anew, as libpq does, since certificates are renewed. */
function followedFiles(given: Record<string, string | undefined>): ConnectionOptions {
  const files: ConnectionOptions = {};
  for (const [parameter, option] of Object.entries(OPTIONS_OF_FILES)) {
    const path = given[parameter];
    if (path === undefined) continue;
    let text = read(parameter, path);
    const get = () => {
      try {
        text = readFileSync(path, 'utf8');
      } catch {
        // The text stays as it was: node-postgres would not catch an error here.
      }
      return text;
    };
    Object.defineProperty(files, option, { enumerable: true, configurable: true, get });
  }
  return files;
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `${parameter} of the database URL cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
}

const withoutHostCheck = (files: ConnectionOptions): ConnectionOptions =>
  Object.assign(files, { rejectUnauthorized: true, checkServerIdentity: () => undefined });
