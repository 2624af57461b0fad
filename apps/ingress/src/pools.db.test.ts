import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { startTunnel } from '@paddock/testing/tunnel';
import { createPools } from './pools.ts';

const database = useTestDatabase();
beforeEach(() => database.db.deleteFrom('pools_documents').execute());

const load = (label: string) =>
  putPools(database.db, examplePools({ pools: [{ labels: [label] }] }));

function createReplica(db = database.dbOf('ingress')) {
  const versions: number[] = [];
  const pools = createPools({
    db,
    refreshMs: 1_000,
    onChange: (version) => versions.push(version),
    onError: (error) => {
      throw error;
    },
  });
  return {
    pools,
    versions,
    labels: () => pools.current()?.document.pools.map((pool) => pool.labels.join()),
  };
}

describe('the pools that ingress judges by (B4)', () => {
  test('are none until a document is loaded, then the newest; each is logged once', async () => {
    const { pools, versions, labels } = createReplica();
    await pools.once();
    expect(pools.current()).toBeUndefined();
    await load('linux');
    await pools.once();
    await pools.once();
    expect(labels()).toEqual(['linux']);
    await load('windows');
    await pools.once();
    expect(labels()).toEqual(['windows']);
    expect(versions).toHaveLength(2);
  });

  test('stay while a newer document cannot be read', async () => {
    const { pools, labels } = createReplica();
    await load('linux');
    await pools.once();
    await database.db
      .insertInto('pools_documents')
      .values({ digest: 'x', content: '{"future":1}' })
      .execute();
    await expect(pools.once()).rejects.toThrow('upgrade it');
    expect(labels()).toEqual(['linux']);
  });

  test('stay while PostgreSQL is away, and follow when it is back (B5)', async () => {
    const tunnel = await startTunnel(database.urlOf('ingress'));
    const { db, close } = connectDatabase({
      url: tunnel.url,
      schema: database.schema,
      poolSize: 1,
      applicationName: 'pools',
    });
    const { pools, labels } = createReplica(db);
    await load('linux');
    await pools.once();
    await tunnel.cut();
    await load('windows');
    await expect(pools.once()).rejects.toMatchObject({ message: expect.any(String) });
    expect(labels()).toEqual(['linux']);
    await tunnel.mend();
    await pools.once();
    expect(labels()).toEqual(['windows']);
    await close();
    await tunnel.cut();
  });
});
