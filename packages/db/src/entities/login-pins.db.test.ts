import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { pinLogins, repairInstallations } from './installations.ts';
import { storePoolsDocument } from '../pools/pools-documents.ts';

/** As GitHub lists an entity named acme. */
const listed = (id: number) => ({
  appId: 7,
  entity: { id, login: 'acme', type: 'Organization' as const },
  installationId: id,
  repositorySelection: 'all',
  suspendedAt: null,
  isDeleted: false,
  statedAt: null,
});

const testDb = useTestDatabase();
const db = () => testDb.db;
beforeEach(async () => {
  await emptyTables(db(), [
    'login_pins',
    'installations',
    'installation_events',
    'pools_documents',
  ]);
});

const install = (login: string, entityId: number, isDeleted = false) =>
  putInstallation(db(), {
    entity_id: entityId,
    login,
    app_id: 7,
    installation_id: entityId,
    stated_at: minutesAgo(1),
    deleted_at: isDeleted ? minutesAgo(1) : null,
  });
const pins = async () => {
  const rows = await db()
    .selectFrom('login_pins')
    .select(['login', 'entity_id'])
    .orderBy('login')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.login, row.entity_id]));
};
const pin = (entities: Parameters<typeof pinLogins>[1]) =>
  db()
    .transaction()
    .execute((trx) => pinLogins(trx, entities));
const entities = { Acme: {}, Globex: {}, initech: {}, 'id:5': {}, '*': {} };

describe('logins that are pinned', () => {
  test('when pools are loaded: logins of only one known entity', async () => {
    await install('ACME', 1);
    await install('globex', 2);
    await install('Globex', 3);
    await install('initech', 4, true);
    await install('hooli', 6);
    await install('umbrella', 7);
    const content = examplePools({ pools: [{ entities: ['Umbrella', 'hoo*'] }], entities });
    const store = (digest: string) => storePoolsDocument(db(), { content, digest });
    await store('one');
    expect(await pins()).toEqual({ acme: 1, umbrella: 7 });
    // The pin stays, although the entity of that name is another one now.
    await db()
      .updateTable('installations')
      .set({ login: 'renamed' })
      .where('entity_id', '=', 1)
      .execute();
    await db()
      .updateTable('installations')
      .set({ login: 'acme' })
      .where('entity_id', '=', 6)
      .execute();
    await store('two');
    expect(await pins()).toEqual({ acme: 1, umbrella: 7 });
  });

  test('to the first entity with the login; not if an id or the star admits it', async () => {
    await putPools(db(), examplePools({ entities }));
    const owners = [
      { id: 9, login: 'ACME' },
      { id: 1, login: 'acme' },
      { id: 5, login: 'globex' },
      { id: 6, login: 'hooli' },
    ];
    expect(await pin(owners)).toEqual(new Set([1]));
    expect(await pins()).toEqual({ acme: 9 });
    expect(await pin([{ id: 2, login: 'Globex' }])).toEqual(new Set());
    expect(await pin(owners)).toEqual(new Set([1]));
    expect(await pins()).toEqual({ acme: 9, globex: 2 });
  });

  test('by GitHub’s list of an App; an entity under another one’s login is refused', async () => {
    await putPools(db(), examplePools({ entities }));
    for (const id of [1, 2]) {
      await db()
        .transaction()
        .execute((trx) => repairInstallations(trx, [listed(id)]));
    }
    expect(await pins()).toEqual({ acme: 1 });
    const events = await db()
      .selectFrom('installation_events')
      .select(['entity_id', 'outcome'])
      .orderBy('id')
      .execute();
    expect(events).toEqual([
      { entity_id: 1, outcome: 'ok' },
      { entity_id: 2, outcome: 'refused_entity' },
    ]);
  });
});
