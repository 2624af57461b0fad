import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientConfig, connectDatabase, openDatabase } from '@paddock/db/connection/connect';
import { listen } from '@paddock/db/connection/listen';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { withConnection } from '@paddock/testing/server-connection';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { makeCertificate } from './scenes/loopback-network.scene.ts';

let postgres: Postgres;
let folder: string;
/** Files: the authority of the server's certificate, and another one. */
let trusted: string;
let other: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-tls-'));
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** Gives the server, which has had no TLS, a certificate. */
async function turnTlsOn(): Promise<void> {
  const [{ key, cert }, stranger] = await Promise.all([makeCertificate(), makeCertificate()]);
  const { uid, gid } = await stat(postgres.dataDir);
  for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
    const path = join(postgres.dataDir, name);
    await writeFile(path, text, { mode: 0o600 });
    await chown(path, uid, gid);
  }
  trusted = join(folder, 'trusted.crt');
  other = join(folder, 'other.crt');
  await writeFile(trusted, cert);
  await writeFile(other, stranger.cert);
  await withConnection(postgres.url(), async (client) => {
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
  });
  await waitFor('the server to have TLS', () =>
    isEncrypted({ sslmode: 'require' }).catch(() => false),
  );
}

const IS_ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
const ARE_ENCRYPTED =
  "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = current_setting('application_name')";

interface Dsn {
  readonly sslmode?: string;
  readonly sslrootcert?: string;
  /** The certificate does not name it. */
  readonly host?: 'localhost';
}

function options({ host, ...parameters }: Dsn) {
  const url = new URL(postgres.url());
  if (host !== undefined) url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, schema: 'public', applicationName: 'tls' };
}

/** Whether PostgreSQL itself calls a connection of the pool encrypted. Rejects if there is none. */
async function isEncrypted(dsn: Dsn): Promise<boolean | undefined> {
  const { db, close } = connectDatabase({ ...options(dsn), poolSize: 1 });
  try {
    return (await sql<{ ssl: boolean }>`${sql.raw(IS_ENCRYPTED)}`.execute(db)).rows[0]?.ssl;
  } finally {
    await close();
  }
}

describe('sslmode as PostgreSQL documents it (A11), where the server has no TLS', () => {
  test('TLS that is only preferred is left out', async () => {
    expect(await isEncrypted({})).toBe(false);
    expect(await isEncrypted({ sslmode: 'prefer' })).toBe(false);
  });

  test('TLS that is required is an error', async () => {
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
      await expect(isEncrypted({ sslmode })).rejects.toThrow('does not support SSL');
    }
  });
});

describe('sslmode as PostgreSQL documents it (A11), where the server has a certificate', () => {
  beforeAll(turnTlsOn);

  test('a DSN that says nothing is encrypted; only one that says so is not', async () => {
    expect(await isEncrypted({})).toBe(true);
    expect(await isEncrypted({ sslmode: 'prefer' })).toBe(true);
    expect(await isEncrypted({ sslmode: 'disable' })).toBe(false);
  });

  test('connections beside the pool are encrypted too', async () => {
    const config = clientConfig({
      ...options({ sslmode: 'verify-full', sslrootcert: trusted }),
      applicationName: 'beside the pool',
    });
    const own = openDatabase(config, 1);
    const stop = new AbortController();
    const { promise: listens, resolve, reject } = Promise.withResolvers<void>();
    const listening = listen(
      { config, channels: ['c'], onWake: () => resolve(), onError: reject },
      stop.signal,
    );
    try {
      await listens;
      const { rows } = await sql`${sql.raw(ARE_ENCRYPTED)}`.execute(own.db);
      expect(rows).toEqual([{ ssl: true }, { ssl: true }]);
    } finally {
      stop.abort();
      await listening;
      await own.close();
    }
  });

  test.each([
    ['require', 'needs no authority', () => ({}), 'true'],
    ['require', 'checks the one it is given', () => ({ sslrootcert: trusted }), 'true'],
    [
      'require',
      'refuses another one’s certificate',
      () => ({ sslrootcert: other }),
      'self-signed certificate',
    ],
    [
      'verify-ca',
      'takes any name',
      () => ({ sslrootcert: trusted, host: 'localhost' as const }),
      'true',
    ],
    [
      'verify-ca',
      'refuses another one’s certificate',
      () => ({ sslrootcert: other }),
      'self-signed certificate',
    ],
    ['verify-full', 'takes the name of the certificate', () => ({ sslrootcert: trusted }), 'true'],
    [
      'verify-full',
      'refuses another name',
      () => ({ sslrootcert: trusted, host: 'localhost' as const }),
      "does not match certificate's",
    ],
    [
      'verify-full',
      'refuses another one’s certificate',
      () => ({ sslrootcert: other }),
      'self-signed certificate',
    ],
    [
      'verify-full',
      'trusts public authorities without a given one',
      () => ({}),
      'self-signed certificate',
    ],
  ])('%s %s', async (sslmode, _does, dsn, expected) => {
    const result = await isEncrypted({ sslmode, ...dsn() }).catch((error: unknown) =>
      String(error),
    );
    expect(String(result)).toContain(expected);
  });
});
