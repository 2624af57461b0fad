import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { jobToStore } from '../jobs/read-jobs.ts';
import { bindRunners } from '../jobs/record-jobs.ts';
import { type StoredJob, storeJobsAtOnce, storeJobs } from '../jobs/store-jobs.ts';
import type { EventToAppend } from '../events/append-events.ts';
import type { Trx } from '../schema/tables.ts';
import { putWorker } from '@paddock/testing/demand-rows';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import { ACME, ofJob, pools } from '@paddock/testing/deliveries-to-record';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyAll(database.db);
  // The first delivery of an entity goes the long way, which learns of the installation.
  await recordDeliveries(database.db, [ofJob('completed', 900)], pools);
});

const partsOf = ({ parsed, appId, guid, bodyDigest }: DeliveryToRecord) => {
  if (parsed.kind !== 'job') throw new Error('The delivery states nothing about a job.');
  const facts = { ...parsed.job, appId, deliveryGuid: guid };
  return {
    job: jobToStore(pools.document, facts, undefined, bodyDigest),
    eventsOf: (stored: readonly StoredJob[]): EventToAppend[] =>
      stored.map(({ outcome }) => ({
        ...facts,
        source: 'webhook',
        event: parsed.event,
        outcome,
        payload: '{}',
        payloadRepaired: false,
      })),
  };
};
const store = (delivery: DeliveryToRecord) => {
  const { job, eventsOf } = partsOf(delivery);
  return storeJobsAtOnce(database.db, [job], pools.version, eventsOf);
};
const storeLong = async (trx: Trx, delivery: DeliveryToRecord) => {
  const { job, eventsOf } = partsOf(delivery);
  await bindRunners(trx, await storeJobs(trx, [job], pools.version, { eventsOf }), pools);
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

/** Rows without what each writing has of its own. */
const told = async () => {
  const writing = { created_at: 0, updated_at: 0, received_at: 0, id: 0, assigned_at: 0 };
  const { jobs, events } = await written();
  const workers = await database.db
    .selectFrom('workers')
    .select(['assigned_job_id', 'unexplained_until'])
    .execute();
  return [...jobs, ...events, ...workers].map((row) => Object.assign(row, writing));
};

test('deliveries that come alone leave the rows that the way for all cases leaves (A5, A9, B6, B7)', async () => {
  const { pod_name: name } = await putWorker(database.db, { entity_id: 11, runner_id: 5 });
  const ours = { runner_name: name, runner_id: 5 };
  const life = [
    ofJob('queued', 901, { labels: ['K8s', 'self-hosted'] }),
    ofJob('in_progress', 901, { job: ours }),
    ofJob('in_progress', 902),
    ofJob('completed', 901, { job: ours }),
    ofJob('queued', 903, { labels: ['windows'] }),
  ];
  const all = [...life, ...life];
  const short = [];
  for (const delivery of all) {
    const stored = await store(delivery);
    expect(stored).toBeDefined();
    short.push(stored?.[0]?.outcome);
  }
  expect(short).toEqual([
    'job_stored',
    'job_marked_running',
    'job_stored',
    'job_marked_completed',
    'ignored_no_label',
    ...Array.from({ length: 4 }, () => 'job_already_exists'),
    'ignored_no_label',
  ]);
  const alone = await told();
  expect(alone).toMatchObject(
    [{ job_id: 901, k8s_pod: name }, { job_id: 902 }, ...all, { assigned_job_id: 901 }].map((row) =>
      'guid' in row ? { delivery_guid: row.guid } : row,
    ),
  );
  await database.db.deleteFrom('jobs').where('job_id', '>', 900).execute();
  await database.db.deleteFrom('installation_events').where('job_id', '>', 900).execute();
  await database.db
    .updateTable('workers')
    .set({ assigned_job_id: null, assigned_at: null })
    .execute();

  for (const delivery of all)
    await database.db.transaction().execute((trx) => storeLong(trx, delivery));
  expect(await told()).toEqual(alone);
});

describe('nothing is written of what goes the long way (A5, A12):', () => {
  const beta = { ...ACME, login: 'beta' };
  test.each([
    ['an entity that is heard of for the first time', { owner: { ...ACME, id: 12 } }, 41],
    ['an entity under a new name', { owner: beta }, 41],
    ['another installation', { installation: 32 }, 41],
    ['an App that is heard of for the first time', {}, 42],
  ])('%s', async (_name, about, appId) => {
    for (const action of ['queued', 'completed'] as const)
      expect(await store({ ...ofJob(action, 901, about), appId })).toBeUndefined();
    expect(await written()).toEqual({ jobs: [], events: [] });
  });

  test('a job without a pool that one of our workers runs', async () => {
    const { pod_name: name } = await putWorker(database.db, { entity_id: 11, runner_id: 5 });
    const job = { runner_name: name, runner_id: 5 };
    expect(await store(ofJob('in_progress', 901, { labels: ['windows'], job }))).toBeUndefined();
    expect(await written()).toEqual({ jobs: [], events: [] });
  });
});
