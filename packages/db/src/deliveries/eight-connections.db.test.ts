import { beforeAll, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putPools, putWorker } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { lockInstallations, pinLogins } from '../entities/installations.ts';
import { connectDatabase, type DatabaseConnection } from '../connection/connect.ts';
import { pools as open } from '@paddock/testing/job-lives';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';
import { deliveryToRecord, ofJob } from '@paddock/testing/deliveries-to-record';

const CONNECTIONS = 8;
const JOBS = 64;
/** The names tell the runners apart. */
const RUNNER_ID = 5;

/**
 * Unknown entities that their logins admit, so that each is pinned. One of them has the workers.
 */
const ENTITIES = Array.from({ length: JOBS }, (_job, index) => {
  const id = 90_000_001 + (index % 4 === 3 ? index : 0);
  return { id, login: `org-${id}`, type: 'Organization' };
});
const entities = Object.fromEntries(ENTITIES.map(({ login }) => [login, {}]));
const pools = { ...open, document: poolsDocument.parse({ ...open.document, entities }) };

/** Three deliveries of a job, and one of its entity about the installation. */
function deliveriesOf(jobId: number, runner: string, owner: JsonObject): DeliveryToRecord[] {
  const given = { owner, labels: ['linux'], installation: 51_000_001 };
  const installation = { id: 51_000_001, account: owner, updated_at: '2026-01-01T00:00:00Z' };
  return [
    ofJob('queued', jobId, { ...given, job: { runner_name: null } }),
    ...(['in_progress', 'completed'] as const).map((action) =>
      ofJob(action, jobId, { ...given, job: { runner_name: runner, runner_id: RUNNER_ID } }),
    ),
    // The same content from different senders: a body that comes too often would leave no rows.
    deliveryToRecord(
      'installation',
      examplePayload('installation', 'created', { installation, sender: { id: jobId } }),
    ),
  ];
}

describe('eight connections that write the same jobs', () => {
  const database = useTestDatabase();
  let connections: DatabaseConnection[];

  beforeAll(async () => {
    await putPools(database.db, pools.document);
    const { schema } = database;
    const url = database.urlOf('ingress');
    connections = Array.from({ length: CONNECTIONS }, () =>
      connectDatabase({ url, schema, poolSize: 1, applicationName: 'writer' }),
    );
  });

  test('in random batches and orders do not deadlock, and every job and worker is as it should be (B6)', async () => {
    const workers = await Promise.all(
      Array.from({ length: JOBS }, () => putWorker(database.db, { runner_id: RUNNER_ID })),
    );
    // Jobs and their workers in opposite orders.
    const all = ENTITIES.flatMap((entity, index) =>
      deliveriesOf(1_000 + index, workers.at(-1 - index)?.pod_name ?? '', entity),
    );
    // Batches with an installation wait for each other before they lock any job; batches of jobs
    // alone meet at the jobs.
    const plans = [all, all.filter(({ parsed }) => parsed.kind === 'job')].flatMap((some) =>
      fc.sample(
        fc.tuple(
          fc.shuffledSubarray([...some, ...some], { minLength: 2 * some.length }),
          fc.integer({ min: 8, max: 48 }),
        ),
        {
          numRuns: CONNECTIONS / 2,
        },
      ),
    );
    const failures: unknown[] = [];
    await Promise.all(
      connections.map(async ({ db }, index) => {
        const [order = [], size = 1] = plans[index] ?? [];
        for (let from = 0; from < order.length; from += size) {
          await recordDeliveries(db, order.slice(from, from + size), pools).catch(
            (error: unknown) => failures.push(error),
          );
        }
      }),
    );
    expect(failures).toEqual([]);

    const jobs = await database.db.selectFrom('jobs').selectAll().orderBy('job_id').execute();
    expect(jobs.map(({ job_id: jobId, status }) => [jobId, status])).toEqual(
      workers.map((_worker, index) => [1_000 + index, 'completed']),
    );
    const { rows: bound } = await sql<{ job: number }>`
      select assigned_job_id as job from workers where assigned_job_id is not null order by job`.execute(
      database.db,
    );
    const expected = jobs.filter((job) => job.entity_id === 90_000_001).map((job) => job.job_id);
    expect(bound.map(({ job }) => job)).toEqual(expected);
    const events = await database.db.selectFrom('installation_events').select('id').execute();
    expect(events).toHaveLength(plans.reduce((sum, [order]) => sum + order.length, 0));

    // A connection reports its deadlocks when it ends.
    for (const connection of connections) await connection.close();
    await waitFor('the end of the connections', async () => {
      const { rows } =
        await sql`select from pg_stat_activity where application_name = 'writer' and datname = current_database()`.execute(
          database.db,
        );
      return rows.length === 0;
    });
    const { rows } = await sql<{
      deadlocks: number;
    }>`select deadlocks from pg_stat_database where datname = current_database()`.execute(
      database.db,
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });

  test('who pins a login before writing installations waits for no batch of jobs that is about to pin it too (B6)', async () => {
    const entity = { id: 80_000_001, login: 'org-late', type: 'Organization' as const };
    const late = {
      version: 2,
      document: poolsDocument.parse({ ...open.document, entities: { [entity.login]: {} } }),
    };
    await putPools(database.db, late.document);
    const [one, other] = [2_001, 2_002].map((jobId) => deliveriesOf(jobId, 'other', entity)[0]);
    if (one === undefined || other === undefined) throw new Error('Each job has a delivery.');
    const outcomes = await database.db.transaction().execute(async (trx) => {
      await pinLogins(trx, [entity]);
      const recorded = recordDeliveries(database.dbOf('ingress'), [one, other], late);
      await untilBlocked(database.db);
      await lockInstallations(trx);
      return { recorded };
    });
    expect(await outcomes.recorded).toEqual(['job_stored', 'job_stored']);
  });
});
