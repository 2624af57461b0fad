import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { jobToStore } from '../jobs/read-jobs.ts';
import { storeNewJob } from '../jobs/store-jobs.ts';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import { ACME, ofJob, pools } from '../scenes/delivery.scene.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['jobs', 'installation_events', 'installations', 'login_pins']);
  // The first delivery of an entity goes the long way, which learns of the installation.
  await recordDeliveries(database.db, [ofJob('completed', 900)], pools);
});

const store = ({ parsed, appId, guid, bodyDigest }: DeliveryToRecord) => {
  if (parsed.kind !== 'job') throw new Error('The delivery states nothing about a job.');
  const facts = { ...parsed.job, appId, deliveryGuid: guid };
  const job = jobToStore(pools.document, facts, undefined, bodyDigest);
  return storeNewJob(database.db, job, pools.version, (outcome) => ({
    ...facts,
    source: 'webhook',
    event: parsed.event,
    outcome,
    payload: '{}',
    payloadRepaired: false,
  }));
};
const written = async () => ({
  jobs: await database.db.selectFrom('jobs').selectAll().where('job_id', '>', 900).execute(),
  events: await database.db
    .selectFrom('installation_events')
    .selectAll()
    .where('job_id', '>', 900)
    .orderBy('id')
    .execute(),
});

test('a new waiting job is stored by one statement as the way for all cases stores it (A5, A9, B6)', async () => {
  const queued = ofJob('queued', 901, { labels: ['K8s', 'self-hosted'] });
  expect(await recordDeliveries(database.db, [queued], pools)).toEqual(['job_stored']);
  const short = await written();
  await database.db.deleteFrom('jobs').execute();
  await database.db.deleteFrom('installation_events').execute();

  // Two deliveries go the long way; the other one is of a job that no pool serves, and has no row.
  const batch = [queued, ofJob('queued', 902, { labels: ['windows'] })];
  expect(await recordDeliveries(database.db, batch, pools)).toEqual([
    'job_stored',
    'ignored_no_label',
  ]);
  const long = await written();
  const writing = { created_at: 0, updated_at: 0, received_at: 0, id: 0 };
  expect(short.jobs.map((row) => Object.assign(row, writing))).toEqual(
    long.jobs.map((row) => Object.assign(row, writing)),
  );
  expect(short.events.map((row) => Object.assign(row, writing))).toEqual([
    { ...long.events[0], ...writing },
  ]);
});

describe('nothing is written of what goes the long way (A5, A12):', () => {
  test.each([
    ['a job that has a row', ofJob('queued', 900)],
    ['a job that has begun', ofJob('in_progress', 901)],
    ['a job that no pool serves', ofJob('queued', 901, { labels: ['windows'] })],
    [
      'an entity that is heard of for the first time',
      ofJob('queued', 901, { owner: { ...ACME, id: 12 } }),
    ],
    ['an entity under a new name', ofJob('queued', 901, { owner: { ...ACME, login: 'beta' } })],
    ['another installation', ofJob('queued', 901, { installation: 32 })],
    ['an App that is heard of for the first time', { ...ofJob('queued', 901), appId: 42 }],
  ])('%s', async (_name, delivery) => {
    const before = await database.db.selectFrom('jobs').selectAll().execute();
    expect(await store(delivery)).toBeUndefined();
    expect(await written()).toEqual({ jobs: [], events: [] });
    expect(await database.db.selectFrom('jobs').selectAll().execute()).toEqual(before);
  });
});
