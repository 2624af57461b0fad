import { databaseUrl as databaseUrlOf } from '@paddock/db/connection/database-url';
import { isLoopback } from '@paddock/domain/pools/config-file';
import { readConfig } from '@paddock/runtime/read-config';
import type { Secret } from '@paddock/runtime/secret';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { choice, type Environment, optional, secret } from '@paddock/runtime/settings';

const { databaseUrl, sslMode, passFile, schema } = serviceSettings;

/** Whom the terminal asks: the database, or a console's API. */
const settings = {
  databaseUrl: optional(databaseUrl),
  sslMode,
  passFile,
  schema,
  // As a secret, because somebody may write a password into it.
  url: optional(
    secret({
      env: 'PADDOCK_URL',
      doc: 'Address of the console, in place of DATABASE_URL: https://paddock.example.com, with its path prefix if it has one',
      check: whatIsWrongWithUrl,
    }),
  ),
  token: optional(
    secret({
      env: 'PADDOCK_TOKEN',
      doc: 'Token for PADDOCK_URL; `paddock token create` makes one',
      check: (text) =>
        /^[\x21-\x7E]+$/.test(text) ? undefined : 'must be one word, as it was printed',
    }),
  ),
  allowPlainHttp: choice({
    env: 'PADDOCK_ALLOW_PLAIN_HTTP',
    default: 'false',
    doc: 'Whether PADDOCK_URL of another machine may begin with http://, so that the token crosses the network unencrypted',
    of: ['false', 'true'],
  }),
};

function whatIsWrongWithUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return 'must be an address such as https://paddock.example.com';
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    return 'must have neither a user nor a query: the token stands in PADDOCK_TOKEN';
  return /\/api\/v1(\/|$)/.test(url.pathname)
    ? 'must be the address of the console itself, without /api/v1'
    : undefined;
}

export interface Api {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Secret;
}

export type Place =
  | { readonly api: Api }
  | { readonly database: { readonly url: string; readonly schema: string } };

/** Throws a ConfigError with every problem: also where neither place is set, or both are. */
export const readPlace = (environment: Environment): Place =>
  readConfig(
    { settings, rules: {} },
    environment,
    (given, problems): { place: Place } | undefined => {
      if (problems.length > 0) return undefined;
      const { url, token, databaseUrl: dsn, schema: name = '' } = given;
      if (url === undefined && dsn !== undefined) {
        const { sslMode: mode, passFile: file } = given;
        const at = databaseUrlOf({ databaseUrl: dsn, sslMode: mode, passFile: file });
        return { place: { database: { url: at, schema: name } } };
      }
      if (url === undefined || dsn !== undefined)
        problems.push(
          `${url === undefined ? 'Neither DATABASE_URL nor PADDOCK_URL is set' : 'DATABASE_URL and PADDOCK_URL are both set, and may mean two installations'}: set one of them. DATABASE_URL asks the database itself, PADDOCK_URL the API of a console, with PADDOCK_TOKEN`,
        );
      else if (token === undefined)
        problems.push(
          'PADDOCK_TOKEN is not set: PADDOCK_URL needs a token. `paddock token create NAME` makes one, the first one where DATABASE_URL is set',
        );
      else if (isPlain(url.reveal()) && given.allowPlainHttp !== 'true')
        problems.push(
          'PADDOCK_URL must begin with https://, for the token is sent there; PADDOCK_ALLOW_PLAIN_HTTP=true lets it cross the network unencrypted',
        );
      else return { place: { api: { url: url.reveal().replace(/\/+$/, ''), token } } };
      return undefined;
    },
  ).place;

const isPlain = (url: string): boolean =>
  new URL(url).protocol === 'http:' && !isLoopback(new URL(url));
