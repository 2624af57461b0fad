import { beforeAll, describe, expect, test } from '@jest/globals';
import { ACME, putInstallation, putJob, putWorker } from '@paddock/testing/demand-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { findInstallationEndpoint, listInstallationsEndpoint } from './installations.ts';

const database = useTestDatabase();
const FUTURE = new Date('2099-01-31T00:00:00Z');
/** Asks with the console's rights. */
const find = (installation: number) =>
  ask(findInstallationEndpoint, database.dbOf('console'), { installation: String(installation) });

const putEvent = (event: string, at: string, { outcome = 'ok', installation = 70 } = {}) =>
  sql`insert into installation_events (source, event, outcome, app_id, installation_id, entity_id, payload, received_at)
    values ('webhook', ${event}, ${outcome}, 7, ${installation}, 1, '{}', ${at})`.execute(
    database.db,
  );

beforeAll(async () => {
  await putInstallation(database.db, {
    entity_id: 1,
    app_id: 7,
    installation_id: 70,
    login: 'acme',
    repository_selection: 'selected',
    suspended_at: new Date('2026-01-30T00:00:00Z'),
  });
  await putEvent('installation.created', '2026-01-10T00:00:00Z');
  await putEvent('installation_repositories.added', '2026-01-20T00:00:00Z');
  await putEvent('installation.suspend', '2026-01-30T00:00:00Z');
  await putEvent('installation.deleted', '2026-02-01T00:00:00Z', { outcome: 'repeated_body' });
  await putEvent('workflow_job.queued', '2026-02-02T00:00:00Z');
  await putEvent('installation.deleted', '2026-01-09T00:00:00Z', { installation: 69 });
});

test('an installation is what GitHub last said, with the deliveries about it and no replay (G3)', async () => {
  const found = await find(70);
  expect(found).toMatchObject({
    entity: { id: 1, login: 'acme' },
    today: { state: 'suspended', since: '2026-01-30T00:00:00.000Z', repositories: 'selected' },
  });
  expect(found.events.map(({ event, at }) => [event, at])).toEqual([
    ['installation.suspend', '2026-01-30T00:00:00.000Z'],
    ['installation_repositories.added', '2026-01-20T00:00:00.000Z'],
    ['installation.created', '2026-01-10T00:00:00.000Z'],
  ]);
  await expect(find(999)).rejects.toMatchObject({ status: 404 });
});

const install = (entityId: number, appId: number, more: object) =>
  putInstallation(database.db, {
    entity_id: entityId,
    login: `org-${entityId}`,
    app_id: appId,
    installation_id: 100 * entityId + appId,
    ...more,
  });

const HELD = /suspended.*: 1 job of acme waits, no.*workers \(1\).* ones \(2\).* acme lifts/;
const TOLD = { wait_until: FUTURE, wait_message: 'slow down.' };
const REFUSED = {
  refused_since: new Date(),
  refused_until: FUTURE,
  refused_reason: 'installation_refused',
  refused_message: 'Bad key.',
} as const;
const LEFT = { registrations_left: 0, registrations_reset_at: FUTURE };

test.each([
  ['suspended', { suspended_at: new Date() }, HELD],
  ['deleted', { deleted_at: new Date() }, /^The App is removed.*An owner of acme installs/],
  [
    'refused',
    REFUSED,
    /^GitHub refuses what Paddock asks for acme: Bad key\. Look at the App’s key/,
  ],
  ['asked to wait', TOLD, /no more calls for .*down\.$/],
  ['without calls', { core_wait_until: FUTURE }, /of sweeps for acme until 2099-01-31T00:00:00Z/],
  ['without budget', LEFT, /no more registrations/],
])('that is %s says what follows, and who ends it', async (_what, given, sentence) => {
  await emptyTables(database.db, ['installations', 'jobs', 'workers']);
  await putInstallation(database.db, given);
  await putJob(database.db);
  for (const assigned_at of [new Date(), null, null]) await putWorker(database.db, { assigned_at });
  const found = await find(ACME.installation_id);
  expect(found.follows).toEqual([expect.stringMatching(sentence)]);
});

describe('the installations', () => {
  beforeAll(async () => {
    await emptyTables(database.db, ['installations']);
    await install(9, 1, {
      deleted_at: new Date('2026-01-31T09:00:00Z'),
      suspended_at: new Date(0),
    });
    await install(7, 2, { suspended_at: new Date('2026-01-30T09:00:00Z') });
    await install(7, 3, REFUSED);
    await install(7, 1, { repository_selection: 'selected' });
  });

  test('say in pages which App is installed where, and since when one is not', async () => {
    const items = await askAll(listInstallationsEndpoint, database.db, { limit: '2' });
    expect(items).toEqual([
      {
        entity: { id: 7, login: 'org-7', type: 'Organization' },
        app: 1,
        id: 701,
        state: 'installed',
        since: null,
        repositories: 'selected',
      },
      expect.objectContaining({ id: 702, state: 'suspended', since: '2026-01-30T09:00:00.000Z' }),
      expect.objectContaining({ id: 703, state: 'refused', since: expect.any(String) }),
      expect.objectContaining({ id: 901, state: 'deleted', since: '2026-01-31T09:00:00.000Z' }),
    ]);
  });
});
