import { describe, expect, test } from '@jest/globals';
import { HOOKS_VARIABLE, hasHooks } from '@paddock/domain/pools/pod-template';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import {
  currentPoolsDocument,
  HAS_HOOKS,
  POOLS_IN_FORCE,
  storePoolsDocument,
} from './pools-documents.ts';

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

  test.each([
    [[{ name: 'runner', env: [{ name: HOOKS_VARIABLE, value: '/k8s/index.js' }] }], true],
    [[{ name: 'other' }, { name: 'runner', env: [{ name: 'A' }, { name: HOOKS_VARIABLE }] }], true],
    [[{ name: 'other', env: [{ name: HOOKS_VARIABLE, value: '/k8s/index.js' }] }], false],
    [[{ name: 'runner', env: [{ name: 'A', value: HOOKS_VARIABLE }] }], false],
    [[{ name: 'runner', env: null }], false],
    [null, false],
  ])('statements see as the code does whether a pool has hooks: %j', async (containers, isSo) => {
    const template = { spec: { containers } };
    expect(hasHooks(template)).toBe(isSo);
    const p = sql`jsonb_build_object('template', ${JSON.stringify(template)}::jsonb)`;
    const { rows } = await sql`select ${HAS_HOOKS} as so from (select ${p} as p) pool`.execute(
      database.db,
    );
    expect(rows).toEqual([{ so: isSo }]);
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
