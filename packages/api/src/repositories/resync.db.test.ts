import { beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import { ask } from '../scenes/ask.scene.ts';
import { liftSwitchEndpoint, setSwitchEndpoint } from '../switches/switches.ts';
import { findResyncEndpoint, resyncRepositoryEndpoint } from './resync.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['tasks', 'operations', 'actions', 'switches']);
  await emptyTables(database.db, ['installations']);
  await putInstallation(database.db);
});

const path = { owner: 'Acme', repository: 'App' };
const resync = (person = 'ada', more: object = {}) =>
  ask(resyncRepositoryEndpoint, database.db, { ...path, ...more }, person);
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;

describe('the switch of a repository’s resync (F5)', () => {
  test('forbids resyncs of this repository only, with who and why', async () => {
    const subject = 'discover-jobs:Acme/App';
    await ask(setSwitchEndpoint, database.db, { subject, note: 'too large' });
    const held = { by: 'ada', since: expect.any(String), note: 'too large' };
    const state = { subject: 'discover-jobs:acme/app', held, finishedAt: null };
    expect(await ask(findResyncEndpoint, database.db, path)).toEqual(state);
    await expect(resync()).rejects.toMatchObject({ status: 409 });
    await resync('ada', { repository: 'other' });
    await ask(liftSwitchEndpoint, database.db, { subject });
    expect(await ask(findResyncEndpoint, database.db, path)).toEqual({ ...state, held: null });
    await resync();
    expect((await actions()).map(({ endpoint }) => endpoint)).toEqual([
      'resyncRepository',
      'liftSwitch',
      'resyncRepository',
      'setSwitch',
    ]);
  });

  test('says when a resync last ended well (F4)', async () => {
    const at = '2026-01-31T00:00:00.000Z';
    await database.db
      .insertInto('repositories')
      .values({
        repo_id: 5,
        entity_id: 1,
        app_id: 1,
        full_name: 'ACME/app',
        active_at: new Date(at),
        resynced_at: new Date(at),
      })
      .execute();
    expect(await ask(findResyncEndpoint, database.db, path)).toMatchObject({ finishedAt: at });
  });
});
