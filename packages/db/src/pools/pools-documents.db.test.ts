import { describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { currentPoolsDocument, POOLS_IN_FORCE, storePoolsDocument } from './pools-documents.ts';

const content = poolsDocument.parse({
  pools: [
    {
      name: 'small',
      labels: ['Linux'],
      image: 'runner:1',
      namespace: 'runners',
      template: { spec: { nodeSelector: { a: 'b' } } },
    },
  ],
  entities: { '*': { maxWorkers: null } },
});

describe('pools documents', () => {
  const database = useTestDatabase();

  const store = (digest: string) => storePoolsDocument(database.db, { content, digest });

  test('of many that load the same document at once, one writes it; it reads as it was written (B4)', async () => {
    expect(await currentPoolsDocument(database.db)).toBeUndefined();
    const versions = await Promise.all(Array.from({ length: 5 }, () => store('one')));
    expect(new Set(versions).size).toBe(1);
    expect(await currentPoolsDocument(database.db)).toEqual({
      version: versions[0],
      document: content,
    });
  });

  test('statements see the pools of the newest document alone (B4)', async () => {
    const { rows: before } = await sql<{
      version: number;
    }>`select document.version from ${POOLS_IN_FORCE}`.execute(database.db);
    const more = {
      ...content,
      pools: [0, 1].map((nth) => Object.assign({}, content.pools[0], { name: `pool-${nth}` })),
    };
    const version = await storePoolsDocument(database.db, {
      content: more,
      digest: 'more',
    });
    expect(before).not.toContainEqual({ version });
    const { rows } =
      await sql`select p ->> 'name' as name, document.version from ${POOLS_IN_FORCE} order by name`.execute(
        database.db,
      );
    expect(rows).toEqual([
      { name: 'pool-0', version },
      { name: 'pool-1', version },
    ]);
  });

  test('a document that this version cannot read is an error that says what to do', async () => {
    await database.db
      .insertInto('pools_documents')
      .values({ digest: 'x', content: '{"future":1}' })
      .execute();
    await expect(currentPoolsDocument(database.db)).rejects.toThrow(
      /cannot be read by this service: upgrade it/,
    );
  });
});
