import { beforeAll, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask } from '../scenes/ask.scene.ts';
import { findInstallationEndpoint } from './installations.ts';

const database = useTestDatabase();
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

describe('an installation (G3)', () => {
  test('is what GitHub last said, with the deliveries about it and no replay', async () => {
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
  });

  test('that no row names is not found', async () => {
    await expect(find(999)).rejects.toMatchObject({ status: 404 });
  });
});
