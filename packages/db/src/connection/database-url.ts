import type { Logger } from '@paddock/runtime/logger';
import type { Secret } from '@paddock/runtime/secret';

/** As the settings of a service have them. */
export interface DatabaseSettings {
  readonly databaseUrl: Secret;
  readonly sslMode: string | undefined;
}

/** The URL to connect with: as for libpq, PGSSLMODE counts where the URL itself says nothing. */
export function databaseUrl({ databaseUrl: given, sslMode }: DatabaseSettings): string {
  const url = new URL(given.reveal());
  if (sslMode === undefined || url.searchParams.has('sslmode')) return given.reveal();
  url.searchParams.set('sslmode', sslMode);
  return url.href;
}

/**
 * The same, for a service that starts: warns where the URL of another host does not say how to
 * encrypt.
 */
export function guardedDatabaseUrl(settings: DatabaseSettings, log: Logger): string {
  const url = databaseUrl(settings);
  const { searchParams, hostname } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  if (!searchParams.has('sslmode') && !isThisMachine(host)) {
    log.warn(
      'the connection to PostgreSQL may be unencrypted, and the identity of the server is not checked: write sslmode=verify-full into DATABASE_URL, or set PGSSLMODE',
      { host },
    );
  }
  return url;
}

/**
 * A socket's folder, a name or an address of the loopback interface; without a host it is one of
 * these as well.
 */
const isThisMachine = (host: string): boolean =>
  host === '' || /^(\/|%2f|localhost$|127\.|\[?::1\]?$)/i.test(host);
