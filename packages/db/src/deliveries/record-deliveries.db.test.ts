import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import {
  jobUnder,
  renamed,
  SECOND,
  ACME,
  delivery,
  installationBody,
  jobBody,
  pools,
  reduced,
} from '../scenes/deliveries-to-record.scene.ts';

describe('recordDeliveries', () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await emptyTables(database.db, ['jobs', 'installation_events', 'installations']);
  });

  const record = (...batch: DeliveryToRecord[]) => recordDeliveries(database.db, batch, pools);
  const events = () =>
    database.db.selectFrom('installation_events').selectAll().orderBy('id').execute();
  const installation = () =>
    database.db
      .selectFrom('installations')
      .selectAll()
      .where('entity_id', '=', 11)
      .executeTakeFirst();

  test('writes one event for each delivery of a batch, in order, with its outcome, and one row for each job (A4, A9, B6)', async () => {
    const queued = delivery('workflow_job', jobBody('queued', 900));
    const outcomes = await record(
      queued,
      delivery('workflow_job', jobBody('queued', 901)),
      delivery('workflow_job', jobBody('in_progress', 900)),
      queued,
      delivery('workflow_job', jobBody('queued', 902, ['windows'])),
      delivery(
        'workflow_job',
        jobBody('queued', 903, ['k8s'], { ...ACME, id: 12, login: 'stranger' }),
      ),
      delivery('workflow_job', jobBody('waiting', 904)),
      delivery('workflow_job', { ...jobBody('queued', 905), action: 'unheard' }),
      delivery('ping', examplePayload('ping', undefined)),
      delivery('push', examplePayload('push', undefined)),
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
      delivery('workflow_job', jobBody('queued', 900)),
      delivery('workflow_job', jobBody('waiting', 904)),
      delivery('installation', installationBody('created', {})),
      delivery('ping', examplePayload('ping', undefined)),
      delivery('workflow_job', jobBody('queued', 902, ['windows'])),
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
    const ping = delivery(
      'ping',
      examplePayload('ping', undefined, { zen: 'Speak like a human.' }),
    );
    expect(await record(ping, ping)).toEqual(['ok', 'duplicate_delivery']);
  });

  test('the payload is stored as its text says, big numbers too; that of a job without a pool is reduced (A4)', async () => {
    await record(
      delivery('workflow_job', jobBody('queued', 900), { reduced }),
      delivery('workflow_job', jobBody('queued', 902, ['windows']), { reduced }),
      delivery(
        'ping',
        {},
        { payload: '{"n":123456789012345678901234567890.5}', payloadRepaired: true },
      ),
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
    const created = delivery(
      'installation',
      installationBody('created', { updated_at: '2026-01-01T00:00:00Z' }),
    );
    const suspended = delivery(
      'installation',
      installationBody('suspend', {
        updated_at: '2026-01-02T00:00:00Z',
        suspended_at: '2026-01-02T00:00:00Z',
      }),
    );
    const resumed = delivery(
      'installation',
      installationBody('unsuspend', { updated_at: '2026-01-02T00:00:00Z', suspended_at: null }),
    );
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

  test('a deletion is final, until there is a new installation (A12)', async () => {
    await record(
      delivery('installation', installationBody('created', { updated_at: 1_700_000_000 })),
    );
    await record(
      delivery('installation', installationBody('deleted', { updated_at: 1_700_000_000 })),
    );
    await record(
      delivery('installation', installationBody('unsuspend', { updated_at: 1_700_000_009 })),
    );
    expect((await installation())?.deleted_at).not.toBeNull();
    await record(delivery('workflow_job', jobBody('queued', 900)));
    expect((await installation())?.deleted_at).not.toBeNull();
    await record(
      delivery('installation', installationBody('created', { id: 32, updated_at: 1_700_000_100 })),
    );
    expect(await installation()).toMatchObject({ installation_id: 32, deleted_at: null });
    await record(
      delivery('installation', installationBody('deleted', { id: 31, updated_at: 1_700_000_200 })),
    );
    expect(await installation()).toMatchObject({ installation_id: 32, deleted_at: null });
  });

  describe('statements about an entity’s name within one second (A12)', () => {
    beforeEach(() =>
      record(delivery('installation', installationBody('created', { updated_at: SECOND }))),
    );

    test('the renaming counts, and no job with the old name', async () => {
      await record(renamed('beta'));
      expect(await installation()).toMatchObject({ login: 'beta' });
      await record(jobUnder('acme'));
      expect(await installation()).toMatchObject({ login: 'beta' });
    });

    test.each([
      ['before', () => [renamed('beta'), jobUnder('acme')]],
      ['after', () => [jobUnder('acme'), renamed('beta')]],
    ])(
      'the renaming counts in one batch with a job, if it comes %s it too',
      async (_when, batch) => {
        await record(...batch());
        expect(await installation()).toMatchObject({ login: 'beta' });
      },
    );
  });
});
