import { beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { type BegunWait, createWaits } from './waits.ts';
import type { Waits } from '@paddock/domain/entities/waits';

const database = useTestDatabase();
let begun: BegunWait[];
/** As two processes have them. */
let here: Waits;
let there: Waits;
beforeEach(async () => {
  await emptyTables(database.db, ['apps', 'installations']);
  for (const entity of [7, 8])
    await putInstallation(database.db, {
      entity_id: entity,
      app_id: 1,
      installation_id: 50 + entity,
    });
  begun = [];
  [here, there] = [
    createWaits(database.db, (wait) => void begun.push(wait)),
    createWaits(database.db, (wait) => void begun.push(wait)),
  ];
});

const ENTITY = { appId: 1, entityId: 7, installationId: 57 };
const APP = { appId: 1 };
const MINUTE = { ms: 60_000, message: 'slow down' };
const isBound = async (caller: Parameters<Waits['left']>[0], resource = 'core') =>
  (await there.left(caller, resource)) !== undefined;
const setOver = () =>
  sql`update installations set wait_until = now() - interval '1 second', core_wait_until = now() - interval '1 second',
    registrations_reset_at = now() - interval '1 second'`.execute(database.db);

test('a wait of an App alone, which may have no row yet, binds all once one process has stored it', async () => {
  await here.note(APP, { ...MINUTE, resource: 'core' });
  expect([await isBound(APP), await isBound({ appId: 2 }), await isBound(ENTITY)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('a wait that cannot be written fails nothing: GitHub names it again', async () => {
  const ended = await database.db.startTransaction().execute();
  await ended.rollback().execute();
  await createWaits(ended, (wait) => void begun.push(wait)).note(ENTITY, MINUTE);
  expect(begun).toEqual([]);
});

describe('the longest wait wins', () => {
  test('in any order of the answers', async () => {
    await here.note(ENTITY, { ...MINUTE, ms: 600_000 });
    await there.note(ENTITY, MINUTE);
    expect((await here.left(ENTITY, 'core'))?.ms).toBeGreaterThan(500_000);
    await there.note(ENTITY, { ...MINUTE, ms: 900_000, resource: 'core' });
    expect(await here.left(ENTITY, 'core')).toMatchObject({
      message: 'The hourly budget is used up.',
    });
    expect((await here.left(ENTITY, 'core'))?.ms).toBeGreaterThan(800_000);
  });

  test('and its beginning is reported once', async () => {
    await here.note(ENTITY, MINUTE);
    await there.note(ENTITY, MINUTE);
    await there.note(ENTITY, { ...MINUTE, ms: 90_000 });
    expect(begun).toMatchObject([{ caller: ENTITY, ms: 60_000, message: 'slow down' }]);
    await setOver();
    await there.note(ENTITY, MINUTE);
    expect(begun).toHaveLength(2);
  });
});
