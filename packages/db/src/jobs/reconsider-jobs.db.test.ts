import { describe, expect, test } from '@jest/globals';
import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { reduceJobPayload } from '@paddock/domain/deliveries/reduce-job-payload';
import { type TestDatabase } from '@paddock/testing/database';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { recordDeliveries } from '../deliveries/record-deliveries.ts';
import { reconsiderJobs } from './reconsider-jobs.ts';

const small = { name: 'small', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const before = {
  version: 1,
  document: poolsDocument.parse({ pools: [small], entities: { '*': {} } }),
};
const after = {
  version: 2,
  document: poolsDocument.parse({
    pools: [small, { ...small, name: 'big', labels: ['windows'] }],
    entities: { '*': {} },
  }),
};

/** One time for all: a body that is sent again says the same. */
const QUEUED_AT = new Date().toISOString();

const deliver = (
  db: TestDatabase['db'],
  action: 'queued' | 'completed',
  id: number,
  label: string,
  guid = `guid-${id}-${action}`,
) => {
  const body = examplePayload('workflow_job', action, {
    workflow_job: { id, labels: [label], created_at: QUEUED_AT, started_at: QUEUED_AT },
    repository: { private: true },
  });
  const parsed = parseDelivery('workflow_job', body);
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  const payload = JSON.stringify(body);
  const reduced = () => reduceJobPayload(body, payload.length);
  const digest = bodyDigest({ appId: 41, event: 'workflow_job' }, payload);
  const delivery = {
    guid,
    appId: 41,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: digest,
    reduced,
  };
  return recordDeliveries(db, [delivery], before);
};

describe('reconsiderJobs', () => {
  const database = useTestDatabase();

  test('jobs that fit a pool now and have no later news are demand, once; all others stay as they are (B4)', async () => {
    const { db } = database;
    await deliver(db, 'queued', 1, 'windows');
    await sql`update installation_events set received_at = now() - interval '49 hours'`.execute(db);
    await deliver(db, 'queued', 2, 'windows');
    await deliver(db, 'queued', 3, 'windows');
    await deliver(db, 'completed', 3, 'windows');
    await deliver(db, 'queued', 4, 'macos');
    await deliver(db, 'queued', 5, 'linux');
    await deliver(db, 'queued', 6, 'windows');
    expect(await deliver(db, 'queued', 6, 'windows', 'of a replay')).toEqual(['repeated_body']);
    await deliver(db, 'completed', 7, 'windows');
    for (let nth = 0; nth < 2; nth++) await deliver(db, 'queued', 7, 'windows');

    expect(await reconsiderJobs(db, before, 48)).toBe(0);
    const all = await Promise.all([reconsiderJobs(db, after, 48), reconsiderJobs(db, after, 48)]);
    expect(Math.max(...all)).toBe(2);
    expect(await reconsiderJobs(db, after, 48)).toBe(0);
    const jobs = await db
      .selectFrom('jobs')
      .select(['job_id', 'k8s_pool', 'pools_version', 'wants_worker', 'app_id', 'delivery_guid'])
      .orderBy('job_id')
      .execute();
    expect(jobs).toEqual([
      {
        job_id: 2,
        k8s_pool: 'big',
        pools_version: 2,
        wants_worker: true,
        app_id: 41,
        delivery_guid: 'guid-2-queued',
      },
      expect.objectContaining({ job_id: 5, k8s_pool: 'small', pools_version: 1 }),
      {
        job_id: 6,
        k8s_pool: 'big',
        pools_version: 2,
        wants_worker: true,
        app_id: 41,
        delivery_guid: 'guid-6-queued',
      },
    ]);
    const events = await db
      .selectFrom('installation_events')
      .select(['source', 'outcome'])
      .where('job_id', '=', 2)
      .orderBy('id')
      .execute();
    expect(events.slice(0, 2)).toEqual([
      { source: 'webhook', outcome: 'ignored_no_label' },
      { source: 'reconciler', outcome: 'job_stored' },
    ]);
  });
});
