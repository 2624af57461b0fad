import { beforeEach, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import { deliveryToRecord } from '../scenes/delivery.scene.ts';

const POOL = { name: 'small', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const pools = {
  version: 1,
  document: poolsDocument.parse({ pools: [POOL], entities: { acme: {} } }),
};
const ACME = { id: 11, login: 'acme', type: 'Organization' };
const APP = 41;

const job = (action: string, id: number, more: JsonObject = {}) =>
  deliveryToRecord(
    'workflow_job',
    examplePayload('workflow_job', action, {
      workflow_job: { id, labels: ['linux'], runner_name: null, runner_id: null, ...more },
      repository: { id: 21, full_name: 'acme/api', private: true, owner: ACME },
      installation: { id: 31 },
    }),
  );
const installation = (action: string, day: number, more: JsonObject = {}) =>
  deliveryToRecord(
    'installation',
    examplePayload('installation', action, {
      installation: {
        id: 31,
        account: ACME,
        suspended_at: null,
        updated_at: `2026-01-0${day}T00:00:00Z`,
        ...more,
      },
    }),
  );

/** GitHub gives all of one repository the same body, for the installation itself stays as it is. */
const repositories = (action: 'added' | 'removed', more: JsonObject = {}) =>
  deliveryToRecord(
    'installation_repositories',
    examplePayload('installation_repositories', action, {
      installation: {
        id: 31,
        account: ACME,
        suspended_at: null,
        updated_at: '2026-01-02T00:00:00Z',
        ...more,
      },
    }),
  );

const asNew = (known: DeliveryToRecord, guid: string = crypto.randomUUID()): DeliveryToRecord => ({
  ...known,
  guid,
});

describe('a body that comes again', () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await emptyTables(database.db, [
      'jobs',
      'installation_events',
      'installations',
      'unresolved_deliveries',
    ]);
  });

  const record = (...batch: DeliveryToRecord[]) => recordDeliveries(database.db, batch, pools);
  const events = () =>
    database.db
      .selectFrom('installation_events')
      .select(['delivery_guid', 'outcome', 'payload'])
      .orderBy('id')
      .execute();

  const KINDS = {
    'a new job': job('queued', 1),
    'a job that no pool serves': job('queued', 2, { labels: ['windows'] }),
    'a job that has ended': job('completed', 3, { runner_name: 'other', runner_id: 5 }),
    'a job that waits for an approval': job('waiting', 4),
    'an installation': installation('created', 1),
    'an event that is not used': deliveryToRecord('star', examplePayload('star', 'created')),
    'a ping': deliveryToRecord('ping', examplePayload('ping', undefined)),
  };

  test.each(Object.entries(KINDS))(
    'under another GUID leaves a small row: %s (A4)',
    async (_kind, first) => {
      await record(first);
      const again = asNew(first);
      expect(await record(again)).toEqual(['repeated_body']);
      expect((await events()).slice(1)).toEqual([
        { delivery_guid: again.guid, outcome: 'repeated_body', payload: {} },
      ]);
    },
  );

  test.each(Object.entries(KINDS))(
    'leaves at most 20 rows, under any GUIDs: %s (A4)',
    async (_kind, first) => {
      await record(first);
      await record(...Array.from({ length: 15 }, () => asNew(first)));
      for (let nth = 0; nth < 10; nth++) await record(nth % 2 === 0 ? first : asNew(first));
      expect(await events()).toHaveLength(20);
      await record(...Array.from({ length: 30 }, () => asNew(first)));
      expect(await events()).toHaveLength(20);
    },
  );

  test('and is requested by redelivery still leaves its row, once (E1)', async () => {
    const first = job('queued', 1);
    await record(first, ...Array.from({ length: 25 }, () => asNew(first)));
    const wanted = asNew(first);
    const at = new Date();
    await database.db
      .insertInto('unresolved_deliveries')
      .values({
        app_id: APP,
        guid: wanted.guid,
        delivery_id: 1,
        event: 'workflow_job',
        first_failed_at: at,
        last_failed_at: at,
        last_status_code: 503,
      })
      .execute();
    // Another body under its GUID is not the requested one.
    await record(asNew(job('queued', 2), wanted.guid));
    expect(await record(wanted, asNew(first))).toEqual(['repeated_body', 'repeated_body']);
    await record(wanted);
    const stored = await events();
    expect(stored).toHaveLength(22);
    expect(stored.filter(({ delivery_guid: guid }) => guid === wanted.guid)).toHaveLength(2);
  });

  test('under its own GUID is GitHub’s repetition, with the outcome it always had (A4)', async () => {
    const all = [
      job('queued', 1),
      job('queued', 2, { labels: ['windows'] }),
      installation('created', 1),
    ];
    await record(...all);
    expect(await record(...all)).toEqual([
      'job_already_exists',
      'ignored_no_label',
      'duplicate_delivery',
    ]);
  });

  test('of an added repository causes a listing of all at once, and changes nothing else (E2)', async () => {
    const [added, removed] = [repositories('added'), repositories('removed')];
    await record(added);
    await record(removed);
    await record(installation('suspend', 2, { suspended_at: '2026-01-02T00:00:00Z' }));
    await sql`update installations set listed_at = now(), updated_at = now() - interval '1 second'`.execute(
      database.db,
    );
    const state = async () => {
      const { rows } =
        await sql`select updated_at > listed_at as "hasChanged", suspended_at is not null as "isSuspended" from installations`.execute(
          database.db,
        );
      return rows;
    };
    // GitHub's own repetition is old news.
    expect(await record(added)).toEqual(['duplicate_delivery']);
    expect(await state()).toEqual([{ hasChanged: false, isSuspended: true }]);
    expect(await record(asNew(added))).toEqual(['repeated_body']);
    expect(await state()).toEqual([{ hasChanged: true, isSuspended: true }]);
  });

  test('a GUID that came before with another body is no repetition: the delivery counts by itself (A4)', async () => {
    const before = deliveryToRecord('star', examplePayload('star', 'created'));
    await record(before);
    const guid = before.guid;
    expect(await record(asNew(installation('created', 1), guid))).toEqual(['ok']);
    expect(await record(asNew(job('queued', 1), guid))).toEqual(['job_stored']);
    expect(await record(asNew(job('waiting', 2), guid))).toEqual(['job_waiting']);
    expect(
      await database.db.selectFrom('installations').select('installation_id').execute(),
    ).toHaveLength(1);
  });
});
