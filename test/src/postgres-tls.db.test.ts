import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';
import { generate } from 'selfsigned';

let database: TestDatabase;
let encrypting: Awaited<ReturnType<typeof startEncryptingProxy>>;
beforeAll(async () => {
  database = await createTestDatabase();
  encrypting = await startEncryptingProxy(database.url);
});
afterAll(async () => {
  encrypting.stop();
  await database.drop();
});

/** Answers a request for TLS with yes, as a PostgreSQL with a certificate does, and passes the rest on to one that has none. */
async function startEncryptingProxy(url: string) {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'a test' }], { keyType: 'ec', algorithm: 'sha256' });
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let encrypted = 0;
  const server = createServer((plain) => {
    sockets.add(plain);
    plain.on('error', () => plain.destroy());
    plain.once('data', () => {
      plain.write('S');
      const inbound = new TLSSocket(plain, { isServer: true, key, cert });
      const outbound = connect(Number(target.port), target.hostname);
      sockets.add(outbound);
      inbound.once('secure', () => (encrypted += 1));
      for (const end of [inbound, outbound]) end.on('error', () => (inbound.destroy(), outbound.destroy()));
      inbound.pipe(outbound).pipe(inbound);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    encrypted: () => encrypted,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function selectOne(url: string): Promise<unknown> {
  const { db, close } = connectDatabase({ url, schema: database.schema, poolSize: 1, applicationName: 'tls' });
  try {
    return (await sql`select 1 as one`.execute(db)).rows;
  } finally {
    await close();
  }
}
const withMode = (url: string, mode: string) => `${url}?sslmode=${mode}`;

describe('sslmode as PostgreSQL documents it (A11)', () => {
  test('a DSN that says nothing is encrypted where the server can', async () => {
    expect(await selectOne(encrypting.url)).toEqual([{ one: 1 }]);
    expect(encrypting.encrypted()).toBe(1);
  });

  test('and goes on without where it cannot', async () => {
    expect(await selectOne(database.url)).toEqual([{ one: 1 }]);
    expect(await selectOne(withMode(database.url, 'prefer'))).toEqual([{ one: 1 }]);
  });

  test('what is required is not done without', async () => {
    await expect(selectOne(withMode(database.url, 'require'))).rejects.toThrow('does not support SSL');
    await expect(selectOne(withMode(encrypting.url, 'verify-full'))).rejects.toThrow(/certificate/);
  });
});
