import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '@paddock/runtime/config-error';

const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/**
 * Takes the `ssl…` parameters out of a DSN and gives them the meaning that PostgreSQL documents; node-postgres 8 reads `require` as
 * `verify-full`, so it is never asked to interpret them.
 * Source: https://www.postgresql.org/docs/current/libpq-ssl.html. Throws ConfigError for a mode that is none, and for a file that cannot be read.
 */
export function separateTls(dsn: string): { dsn: string; ssl: ConnectionOptions | false } {
  const url = new URL(dsn);
  const given = Object.fromEntries(SSL_PARAMETERS.map((name) => [name, url.searchParams.get(name) ?? undefined]));
  for (const name of SSL_PARAMETERS) url.searchParams.delete(name);
  return { dsn: url.href, ssl: tlsOptions(given) };
}

function tlsOptions(given: Record<string, string | undefined>): ConnectionOptions | false {
  const { sslmode = 'disable', sslrootcert, sslcert, sslkey } = given;
  const files: ConnectionOptions = {
    ...(sslrootcert === undefined ? {} : { ca: read('sslrootcert', sslrootcert) }),
    ...(sslcert === undefined ? {} : { cert: read('sslcert', sslcert) }),
    ...(sslkey === undefined ? {} : { key: read('sslkey', sslkey) }),
  };
  switch (sslmode) {
    case 'disable':
      return false;
    case 'require':
      // As libpq does: with a root certificate at hand, `require` checks the chain.
      return sslrootcert === undefined ? { ...files, rejectUnauthorized: false } : withoutHostCheck(files);
    case 'verify-ca':
      return withoutHostCheck(files);
    case 'verify-full':
      return { ...files, rejectUnauthorized: true };
    default:
      throw new ConfigError([`sslmode=${sslmode} is not supported in the database URL: use disable, require, verify-ca or verify-full`]);
  }
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${parameter} of the database URL cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

const withoutHostCheck = (files: ConnectionOptions): ConnectionOptions => ({
  ...files,
  rejectUnauthorized: true,
  checkServerIdentity: () => undefined,
});
