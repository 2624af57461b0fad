import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import {
  ACME,
  deliveryToRecord,
  ofInstallation,
  ofJob,
  pools,
} from '@paddock/testing/deliveries-to-record';
import { repairInstallation } from '../entities/installations.ts';

const ping = (more = {}) => deliveryToRecord('ping', examplePayload('ping', undefined, more));
const windows = { labels: ['windows'] };
const reduced = () => '{"reduced":true}';

/** When an entity's name was stated twice. */
const SECOND = '2026-01-02T00:00:00Z';

/** The entity has another login. */
const renamed = (login: string) =>
  deliveryToRecord('installation_target', {
    action: 'renamed',
    account: { id: 11, login, updated_at: SECOND },
    target_type: 'Organization',
    installation: { id: 31 },
  });

/** A job of that second, of the entity under this login. */
const jobUnder = (login: string, at = SECOND) =>
  ofJob('queued', 900, {
    owner: { ...ACME, login },
    job: { created_at: at, started_at: at },
  });

const database = useTestDatabase();
beforeEach(() => emptyAll(database.db));

const record = (...batch: DeliveryToRecord[]) => recordDeliveries(database.db, batch, pools);

const events = () =>
  database.db.selectFrom('installation_events').selectAll().orderBy('id').execute();
const installation = () =>
  database.db
    .selectFrom('installations')
    .selectAll()
    .where('entity_id', '=', 11)
    .executeTakeFirst();

describe('recordDeliveries', () => {
  test('writes one event for each delivery of a batch, in order, with its outcome, and one row for each job (A4, A9, B6)', async () => {
    const queued = ofJob('queued', 900);
    const outcomes = await record(
      queued,
      ofJob('queued', 901),
      ofJob('in_progress', 900),
      queued,
      ofJob('queued', 902, windows),
      ofJob('queued', 903, { owner: { ...ACME, id: 12, login: 'stranger' } }),
      ofJob('waiting', 904),
      deliveryToRecord('workflow_job', {
        ...examplePayload('workflow_job', 'queued'),
        action: 'unheard',
      }),
      ping(),
      deliveryToRecord('push', examplePayload('push', undefined)),
    );
    expect(outcomes).toEqual([
      'job_stored',
      'job_stored',
      'job_marked_running',
      'job_already_exists',
      'ignored_no_label',
      'ignored_entity',
      'job_waiting',
      'ignored_action',
      'ok',
      'ignored_event',
    ]);
    const rows = await events();
    expect(rows.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(rows[0]).toMatchObject({
      source: 'webhook',
      event: 'workflow_job.queued',
      app_id: 41,
      installation_id: 31,
      entity_type: 'Organization',
      entity_id: 11,
      entity_name: 'acme',
      repo_id: 21,
      job_id: 900,
      delivery_guid: queued.guid,
      payload: JSON.parse(String(queued.payload)),
      payload_repaired: false,
    });
    const jobs = await database.db
      .selectFrom('jobs')
      .select(['job_id', 'status', 'delivery_guid'])
      .orderBy('job_id')
      .execute();
    expect(jobs).toEqual([
      { job_id: 900, status: 'running', delivery_guid: queued.guid },
      { job_id: 901, status: 'pending', delivery_guid: rows[1]?.delivery_guid },
    ]);
  });

  test('a repeated delivery of any kind appends a row that says nothing changed (A4)', async () => {
    const all = [
      ofJob('queued', 900),
      ofJob('waiting', 904),
      ofInstallation('created', {}),
      ping(),
      ofJob('queued', 902, windows),
    ];
    await record(...all);
    const again = [
      'job_already_exists',
      'duplicate_delivery',
      'duplicate_delivery',
      'duplicate_delivery',
      'ignored_no_label',
    ];
    expect(await record(...all)).toEqual(again);
    expect(await events()).toHaveLength(10);
    const other = ping({ zen: 'Speak like a human.' });
    expect(await record(other, other)).toEqual(['ok', 'duplicate_delivery']);
  });

  test('the payload is stored as its text says, big numbers too; that of a job without a pool is reduced (A4)', async () => {
    await record(
      ofJob('queued', 900, {}, { reduced }),
      ofJob('queued', 902, windows, { reduced }),
      deliveryToRecord('ping', {}, 41, {
        payload: '{"n":123456789012345678901234567890.5}',
        payloadRepaired: true,
      }),
    );
    const rows = await database.db
      .selectFrom('installation_events')
      .select((eb) => [eb.cast<string>('payload', 'text').as('text'), 'payload_repaired'])
      .orderBy('id')
      .execute();
    expect(rows[0]?.text).toContain('"head_sha"');
    expect(rows[1]?.text).toBe('{"reduced": true}');
    expect(rows[2]).toEqual({
      text: '{"n": 123456789012345678901234567890.5}',
      payload_repaired: true,
    });
  });

  test('installations follow GitHub’s statements in the order of their instants, in any order of arrival (A12)', async () => {
    const created = ofInstallation('created', { updated_at: '2026-01-01T00:00:00Z' });
    const suspended = ofInstallation('suspend', {
      updated_at: '2026-01-02T00:00:00Z',
      suspended_at: '2026-01-02T00:00:00Z',
    });
    const resumed = ofInstallation('unsuspend', {
      updated_at: '2026-01-02T00:00:00Z',
      suspended_at: null,
    });
    await record(suspended);
    await record(created);
    expect(await installation()).toMatchObject({
      installation_id: 31,
      login: 'acme',
      repository_selection: 'all',
      suspended_at: new Date('2026-01-02T00:00:00Z'),
      stated_at: new Date('2026-01-02T00:00:00Z'),
    });
    // GitHub states the end of a suspension with the same instant; the suspension, delivered again,
    // must not bring it back.
    await record(resumed);
    await record(suspended);
    expect(await installation()).toMatchObject({ suspended_at: null });
  });

  test('a suspension that only GitHub’s list has told of ends with its lifting (A12)', async () => {
    await record(ofInstallation('created', { updated_at: '2026-01-01T00:00:00Z' }));
    const suspendedAt = '2026-01-02T00:00:00Z';
    const listed = {
      appId: 41,
      entity: { ...ACME, type: 'Organization' as const },
      installationId: 31,
      repositorySelection: 'all',
    };
    const said = { suspendedAt, isDeleted: false, statedAt: '2026-01-02T00:10:00Z' };
    await database.db
      .transaction()
      .execute((trx) => repairInstallation(trx, { ...listed, ...said }));
    await record(ofInstallation('unsuspend', { updated_at: suspendedAt, suspended_at: null }));
    expect(await installation()).toMatchObject({
      suspended_at: null,
      stated_at: new Date('2026-01-02T00:10:00Z'),
    });
  });

  test('a deletion is final, until there is a new installation (A12)', async () => {
    await record(ofInstallation('created', { updated_at: 1_700_000_000 }));
    await record(ofInstallation('deleted', { updated_at: 1_700_000_000 }));
    await record(ofInstallation('unsuspend', { updated_at: 1_700_000_009 }));
    expect((await installation())?.deleted_at).not.toBeNull();
    await record(ofJob('queued', 900));
    expect((await installation())?.deleted_at).not.toBeNull();
    await record(ofInstallation('created', { id: 32, updated_at: 1_700_000_100 }));
    expect(await installation()).toMatchObject({ installation_id: 32, deleted_at: null });
    await record(ofInstallation('deleted', { id: 31, updated_at: 1_700_000_200 }));
    expect(await installation()).toMatchObject({ installation_id: 32, deleted_at: null });
    await record(ofInstallation('deleted', { id: 32, updated_at: 1_700_000_300 }));
    await record(ofInstallation('created', { id: 30, updated_at: 1_700_000_250 }));
    expect((await installation())?.deleted_at).not.toBeNull();
    await record(ofInstallation('created', { id: 29, updated_at: 1_700_000_400 }));
    expect(await installation()).toMatchObject({ installation_id: 29, deleted_at: null });
  });

  test('a new name is learnt from installation_target and from jobs that began after it, and no late statement turns it back (A12)', async () => {
    await record(ofInstallation('created', { updated_at: '2026-01-01T00:00:00Z' }));
    await record(renamed('beta'));
    expect(await installation()).toMatchObject({ login: 'beta', repository_selection: 'all' });
    await record(jobUnder('gamma', '2026-01-03T00:00:00Z'));
    expect(await installation()).toMatchObject({ login: 'gamma' });
    await record(jobUnder('acme', '2026-01-02T00:00:00Z'));
    const late = { updated_at: '2026-01-02T00:00:00Z', suspended_at: '2026-01-02T00:00:00Z' };
    await record(ofInstallation('suspend', late));
    expect(await installation()).toMatchObject({ login: 'gamma' });
  });

  test.each([
    ['first', [[renamed('beta')], [jobUnder('acme')]]],
    ['first in one batch', [[renamed('beta'), jobUnder('acme')]]],
    ['last in one batch', [[jobUnder('acme'), renamed('beta')]]],
  ])(
    'within one second a renaming counts, and no job with the old name: %s (A12)',
    async (_when, batches) => {
      await record(ofInstallation('created', { updated_at: SECOND }));
      for (const batch of batches) await record(...batch);
      expect(await installation()).toMatchObject({ login: 'beta' });
    },
  );
});

/** GitHub gives all of one repository the same body, for the installation itself stays as it is. */
const repositories = (action: 'added' | 'removed') =>
  deliveryToRecord(
    'installation_repositories',
    examplePayload('installation_repositories', action, {
      installation: { id: 31, account: ACME, suspended_at: null, updated_at: SECOND },
    }),
  );

const stated = (action: 'created' | 'suspend', day: number, more = {}) =>
  ofInstallation(action, { suspended_at: null, updated_at: `2026-01-0${day}T00:00:00Z`, ...more });

const asNew = (known: DeliveryToRecord, guid: string = crypto.randomUUID()): DeliveryToRecord => ({
  ...known,
  guid,
});

describe('a body that comes again', () => {
  const KINDS = {
    'a new job': ofJob('queued', 1),
    'a job that no pool serves': ofJob('queued', 2, windows),
    'a job that waits for an approval': ofJob('waiting', 4),
    'an installation': stated('created', 1),
    'a ping': ping(),
  };

  test.each(Object.entries(KINDS))(
    'under another GUID leaves a small row, and at most 20 of them: %s (A4)',
    async (_kind, first) => {
      await record(first);
      const again = asNew(first);
      expect(await record(again)).toEqual(['repeated_body']);
      expect((await events()).slice(1)).toMatchObject([
        { delivery_guid: again.guid, outcome: 'repeated_body', payload: {} },
      ]);
      await record(...Array.from({ length: 14 }, () => asNew(first)));
      for (let nth = 0; nth < 10; nth++) await record(nth % 2 === 0 ? first : asNew(first));
      expect(await events()).toHaveLength(20);
      await record(...Array.from({ length: 30 }, () => asNew(first)));
      expect(await events()).toHaveLength(20);
    },
  );

  test('and is requested by redelivery still leaves its row, once (E1)', async () => {
    const first = ofJob('queued', 1);
    await record(first, ...Array.from({ length: 25 }, () => asNew(first)));
    const wanted = asNew(first);
    const at = new Date();
    await database.db
      .insertInto('unresolved_deliveries')
      .values({
        app_id: 41,
        guid: wanted.guid,
        delivery_id: 1,
        event: 'workflow_job',
        first_failed_at: at,
        last_failed_at: at,
        last_status_code: 503,
      })
      .execute();
    // Another body under its GUID is not the requested one.
    await record(asNew(ofJob('queued', 2), wanted.guid));
    expect(await record(wanted, asNew(first))).toEqual(['repeated_body', 'repeated_body']);
    await record(wanted);
    const stored = await events();
    expect(stored).toHaveLength(22);
    expect(stored.filter(({ delivery_guid: guid }) => guid === wanted.guid)).toHaveLength(2);
  });

  test('of an added repository causes a listing of all at once, and changes nothing else (E2)', async () => {
    const [added, removed] = [repositories('added'), repositories('removed')];
    await record(added);
    await record(removed);
    await record(stated('suspend', 2, { suspended_at: '2026-01-02T00:00:00Z' }));
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

  test('under the GUID of a lost statement does not keep that one from being applied (E1)', async () => {
    const earlier = stated('suspend', 1, { suspended_at: '2026-01-01T00:00:00Z' });
    const lost = stated('suspend', 2, { suspended_at: '2026-01-02T00:00:00Z' });
    await record(earlier);
    await record(asNew(earlier, lost.guid));
    expect(await record(lost)).toEqual(['ok']);
  });

  test('a GUID that came before with another body is no repetition: the delivery counts by itself (A4)', async () => {
    const before = deliveryToRecord('star', examplePayload('star', 'created'));
    await record(before);
    const guid = before.guid;
    expect(await record(asNew(stated('created', 1), guid))).toEqual(['ok']);
    expect(await record(asNew(ofJob('queued', 1), guid))).toEqual(['job_stored']);
    expect(await record(asNew(ofJob('waiting', 2), guid))).toEqual(['job_waiting']);
    expect(
      await database.db.selectFrom('installations').select('installation_id').execute(),
    ).toHaveLength(1);
  });

  test('of the same text from another App is another delivery', async () => {
    const body = examplePayload('ping', undefined);
    const ofOther = deliveryToRecord('ping', body, 42);
    expect(await record(deliveryToRecord('ping', body), ofOther)).toEqual(['ok', 'ok']);
  });
});
