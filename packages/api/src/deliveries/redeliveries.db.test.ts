import { beforeAll, describe, expect, test } from '@jest/globals';
import { giveUpRedeliveries, rememberLostDeliveries } from '@paddock/db/deliveries/redelivery';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { askAll } from '../scenes/ask.scene.ts';
import { listRedeliveriesEndpoint } from './deliveries.ts';

const database = useTestDatabase();
const START = Date.parse('2026-01-31T09:00:00Z');

beforeAll(async () => {
  for (const app of [7, 8])
    await rememberLostDeliveries(
      database.db,
      app,
      Array.from({ length: 7 }, (_, n) => ({
        guid: `${app}-${n}`,
        deliveryId: '9007199254740993',
        event: 'workflow_job',
        action: 'queued',
        installationId: 70,
        repositoryId: n,
        firstFailedAt: new Date(START + n * 60_000),
        lastFailedAt: new Date(START + n * 60_000),
        lastStatusCode: 502,
        isDelivered: false,
      })),
      { isAsked: false },
    );
  await sql`update unresolved_deliveries set resolved_at = now() where guid = '7-3'`.execute(
    database.db,
  );
});

const guidsOf = (items: readonly { readonly guid: string | null }[]) =>
  items.map(({ guid }) => guid ?? '').toSorted();

describe('the redeliveries (E1)', () => {
  test('are those that are unresolved, each once', async () => {
    const items = await askAll(listRedeliveriesEndpoint, database.db, { limit: '4' });
    expect(guidsOf(items)).toEqual(
      [7, 8]
        .flatMap((app) => Array.from({ length: 7 }, (_, n) => `${app}-${n}`))
        .filter((guid) => guid !== '7-3'),
    );
    expect(items[0]).toMatchObject({
      app: 8,
      delivery: '9007199254740993',
      event: 'workflow_job.queued',
      installation: 70,
      lastStatusCode: 502,
      requests: 0,
      missingHere: false,
    });
  });

  test('that were given up stay, with what was known, by filters (E1)', async () => {
    const givenUp = (more: object = {}) =>
      askAll(listRedeliveriesEndpoint, database.db, { limit: '3', state: 'given-up', ...more });
    expect(await givenUp()).toEqual([]);
    await giveUpRedeliveries(database.db, 8, 0);
    const items = await givenUp();
    expect(guidsOf(items)).toEqual(Array.from({ length: 7 }, (_, n) => `8-${n}`));
    expect(items[0]).toMatchObject({
      delivery: '9007199254740993',
      event: 'workflow_job.queued',
      lastStatusCode: 502,
      firstFailedAt: expect.stringMatching(/^2026-01-31T09:0\d:00\.000Z$/),
      eventId: expect.stringMatching(/^\d+$/),
    });
    expect(guidsOf(await givenUp({ repository: '3', code: '502' }))).toEqual(['8-3']);
    for (const none of [{ repository: '9' }, { code: '0' }, { installation: '71' }, { to: '-1h' }])
      expect(await givenUp(none)).toEqual([]);
    const all = await askAll(listRedeliveriesEndpoint, database.db, { limit: '4' });
    expect(all.map(({ state }) => state).join('')).toBe('waiting'.repeat(6) + 'given-up'.repeat(7));
  });
});
