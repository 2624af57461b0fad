import { beforeAll, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { ask } from '../scenes/ask.scene.ts';
import { listInstallationsEndpoint as endpoint } from './installations.ts';

const database = useTestDatabase();

const install = (entityId: number, appId: number, more: object) =>
  putInstallation(database.db, {
    entity_id: entityId,
    login: `org-${entityId}`,
    app_id: appId,
    installation_id: 100 * entityId + appId,
    ...more,
  });

describe('the installations', () => {
  beforeAll(async () => {
    await install(9, 1, {
      deleted_at: new Date('2026-01-31T09:00:00Z'),
      suspended_at: new Date(0),
    });
    await install(7, 2, { suspended_at: new Date('2026-01-30T09:00:00Z') });
    await install(7, 1, { repository_selection: 'selected' });
  });

  test('say which App is installed where, and since when one is not', async () => {
    const { items, next } = await ask(endpoint, database.db);
    expect(next).toBeNull();
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
      expect.objectContaining({ id: 901, state: 'deleted', since: '2026-01-31T09:00:00.000Z' }),
    ]);
  });

  test('come in pages, each one once', async () => {
    const ids: number[] = [];
    let after: string | undefined;
    do {
      const page = await ask(endpoint, database.db, { limit: '2', after });
      ids.push(...page.items.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(ids).toEqual([701, 702, 901]);
  });
});
