import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { clientConfig } from './connect.ts';
import { whyPooled } from './wait-until-fit.ts';
import { asksForTls, startPoolingProxy } from '../scenes/pooling-proxy.scene.ts';

const database = useTestDatabase();

const why = (url: string, schema = database.schema) => {
  const config = clientConfig({
    url,
    schema: database.schema,
    applicationName: 'test',
    connectTimeoutMs: 5_000,
  });
  return whyPooled(config, schema);
};

test('names a proxy that pools transactions, and says what to do (A11)', async () => {
  const proxy = await startPoolingProxy(database.url);
  try {
    // It answers start-ups itself, so its one backend has a search_path of its own.
    expect(await why(proxy.url, '"$user", public')).toMatch(
      /^a transaction-pooling proxy .* connect to PostgreSQL itself/,
    );
    expect(await why(proxy.url)).toMatch(
      /^a proxy .* drops the start-up options .* connect to PostgreSQL itself/,
    );
  } finally {
    await proxy.stop();
  }
});

test('a proxy that refuses our start-up options is named (A11)', async () => {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.on('data', (message: Buffer) => {
      if (asksForTls(message)) client.write('N');
      else client.end(Buffer.concat([Buffer.from('E'), length, fields]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    expect(await why(`postgresql://someone@127.0.0.1:${port}/any`)).toMatch(
      /^a proxy .* refuses the start-up options .* connect to/,
    );
  } finally {
    server.close();
  }
});
