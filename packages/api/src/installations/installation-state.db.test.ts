import { beforeAll, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask } from '../scenes/ask.scene.ts';
import { installationStateEndpoint } from './installation-state.ts';

const database = useTestDatabase();
const stateOf = (installation: number, at?: string) =>
  ask(installationStateEndpoint, database.db, { installation, ...(at !== undefined && { at }) });

async function putEvent(event: string, at: string, payload: object, outcome = 'ok') {
  const installation = { id: 70, account: { login: 'acme' }, updated_at: at };
  await sql`insert into installation_events (source, event, outcome, app_id, installation_id, entity_id, delivery_guid, payload, received_at)
    values ('webhook', ${event}, ${outcome}, 7, 70, 1, gen_random_uuid()::text, ${JSON.stringify({ installation, ...payload })}, ${at})`.execute(
    database.db,
  );
}

beforeAll(async () => {
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
    values (1, 7, 70, 'acme', 'Organization', now())`.execute(database.db);
  const selected = { repository_selection: 'selected' };
  const api = { id: 1, full_name: 'acme/api', private: true };
  const shop = { id: 2, full_name: 'acme/shop', private: true };
  await putEvent('installation.created', '2026-01-10T00:00:00.000Z', {
    ...selected,
    repositories: [api],
  });
  await putEvent('installation_repositories.added', '2026-01-20T00:00:00.000Z', {
    ...selected,
    repositories_added: [shop],
  });
  await putEvent('installation.suspend', '2026-01-30T00:00:00.000Z', {});
  await putEvent('installation.deleted', '2026-02-01T00:00:00.000Z', {}, 'repeated_body');
  await putEvent('workflow_job.queued', '2026-02-02T00:00:00.000Z', {});
});

describe('the state of an installation (G3)', () => {
  test('at a time is what its deliveries had said by then', async () => {
    expect(await stateOf(70, '2026-01-19')).toMatchObject({
      entity: { id: 1, login: 'acme' },
      at: '2026-01-20T00:00:00.000Z',
      status: 'installed',
      since: '2026-01-10T00:00:00.000Z',
      repositories: { selection: 'selected', isComplete: true, count: 2 },
    });
    expect(await stateOf(70, '2026-01-15')).toMatchObject({
      repositories: { names: ['acme/api'], count: 1 },
    });
    expect(await stateOf(70, '2026-01-01')).toMatchObject({ status: 'unknown', since: null });
  });

  test('now counts no replay, and names the deliveries', async () => {
    const now = await stateOf(70);
    expect(now).toMatchObject({ status: 'suspended', since: '2026-01-30T00:00:00.000Z' });
    expect(now.events.map(({ event }) => event)).toEqual([
      'installation.suspend',
      'installation_repositories.added',
      'installation.created',
    ]);
  });

  test('that no row names is not found', async () => {
    await expect(stateOf(999)).rejects.toMatchObject({ status: 404 });
  });
});
