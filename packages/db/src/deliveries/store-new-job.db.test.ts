import { beforeEach, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import { jobToStore } from '../jobs/read-jobs.ts';
import { storeNewJob } from '../jobs/store-jobs.ts';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import { deliveryToRecord } from '../scenes/delivery.scene.ts';

const POOL = {
  name: 'small',
  labels: ['self-hosted', 'k8s', 'x64'],
  image: 'runner:1',
  namespace: 'runners',
};
const pools = {
  version: 3,
  document: poolsDocument.parse({ pools: [POOL], entities: { acme: {}, renamed: {} } }),
};
const ACME = { id: 11, login: 'acme', type: 'Organization' };

function deliveryOf(
  jobId: number,
  action: string,
  more: JsonObject = {},
  job: JsonObject = {},
): DeliveryToRecord {
  const body = examplePayload('workflow_job', action, {
    workflow_job: {
      id: jobId,
      run_id: 71,
      labels: ['X64', 'k8s'],
      name: 'build "it"',
      workflow_name: null,
      ...job,
    },
    repository: { id: 21, full_name: 'acme/api', private: true, owner: ACME },
    installation: { id: 31 },
    ...more,
  });
  return deliveryToRecord('workflow_job', body, 41, { guid: 'c0ffee' });
}

describe('storeNewJob', () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await emptyTables(database.db, ['jobs', 'installation_events', 'installations']);
    // The first delivery of an entity goes the long way, which learns of the installation.
    await recordDeliveries(database.db, [deliveryOf(900, 'completed')], pools);
  });

  const store = ({ parsed, appId, guid, bodyDigest: digest }: DeliveryToRecord) => {
    if (parsed.kind !== 'job') throw new Error('The delivery states nothing about a job.');
    const job = jobToStore(pools.document, { ...parsed.job, appId, deliveryGuid: guid });
    return storeNewJob(database.db, { ...job, bodyDigest: digest }, pools.version, (outcome) => ({
      ...parsed,
      source: 'webhook',
      outcome,
      appId,
      jobId: job.facts.jobId,
      deliveryGuid: guid,
      payload: '{}',
      payloadRepaired: false,
    }));
  };
  const written = async () => ({
    jobs: await database.db
      .selectFrom('jobs')
      .selectAll()
      .where('job_id', '>', 900)
      .orderBy('job_id')
      .execute(),
    events: await database.db
      .selectFrom('installation_events')
      .selectAll()
      .where('job_id', '>', 900)
      .orderBy('id')
      .execute(),
  });

  test('writes the same rows as the way for all cases (A5, A9, B6)', async () => {
    const queued = deliveryOf(901, 'queued');
    expect(await recordDeliveries(database.db, [queued], pools)).toEqual(['job_stored']);
    const short = await written();
    await database.db.deleteFrom('jobs').execute();
    await database.db.deleteFrom('installation_events').execute();

    // Two deliveries go the long way; the other one is of a job that no pool serves, and has no
    // row.
    const batch = [queued, deliveryOf(902, 'queued', {}, { labels: ['windows'] })];
    expect(await recordDeliveries(database.db, batch, pools)).toEqual([
      'job_stored',
      'ignored_no_label',
    ]);
    const { jobs, events } = await written();

    const untimed = ({
      created_at: _created,
      updated_at: _updated,
      ...row
    }: (typeof jobs)[number]) => row;
    expect(short.jobs.map(untimed)).toEqual(jobs.map(untimed));
    const unnumbered = ({ id: _id, received_at: _received, ...row }: (typeof events)[number]) =>
      row;
    expect(short.events.map(unnumbered)).toEqual(events.slice(0, 1).map(unnumbered));
    expect(short.jobs).toMatchObject([
      {
        job_id: 901,
        status: 'pending',
        wants_worker: true,
        job_labels: ['k8s', 'x64'],
        pools_version: 3,
      },
    ]);
  });

  test.each([
    ['a job that has a row', deliveryOf(900, 'queued')],
    ['a job that has begun', deliveryOf(901, 'in_progress', {}, { runner_name: 'machine 1' })],
    [
      'a job that has ended without a runner',
      deliveryOf(901, 'completed', {}, { runner_name: null }),
    ],
    ['a job that no pool serves', deliveryOf(901, 'queued', {}, { labels: ['windows'] })],
    [
      'a job of an entity that is not allowed',
      deliveryOf(901, 'queued', { repository: ownedBy({ ...ACME, login: 'stranger' }) }),
    ],
    ['a job without an installation', deliveryOf(901, 'queued', { installation: undefined })],
    [
      'an entity that is heard of for the first time',
      deliveryOf(901, 'queued', { repository: ownedBy({ ...ACME, id: 12 }) }),
    ],
    [
      'an entity under a new name',
      deliveryOf(901, 'queued', { repository: ownedBy({ ...ACME, login: 'renamed' }) }),
    ],
    ['another installation', deliveryOf(901, 'queued', { installation: { id: 32 } })],
    ['an App that is heard of for the first time', { ...deliveryOf(901, 'queued'), appId: 42 }],
  ])('writes nothing of %s, which goes the long way (A5, A12)', async (_name, delivery) => {
    const before = await database.db.selectFrom('jobs').selectAll().execute();
    expect(await store(delivery)).toBeUndefined();
    expect(await written()).toEqual({ jobs: [], events: [] });
    expect(await database.db.selectFrom('jobs').selectAll().execute()).toEqual(before);
  });
});

function ownedBy(owner: JsonObject): JsonObject {
  return { id: 21, full_name: 'acme/api', private: true, owner };
}
