import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { fc } from '@paddock/testing/random-cases';
import { type SignedDelivery, examplePayload } from '@paddock/testing/signed-delivery';
import { untilDisconnected } from '@paddock/testing/until-disconnected';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import {
  type Ingress,
  PATIENT,
  createIngressDatabase,
  jobDelivery,
  signed,
  startIngress,
} from './scenes/ingress.scene.ts';

const CONNECTIONS = 8;
const JOBS = 64;
/** Of each connection. */
const AT_A_TIME = 32;
/** The names tell the runners apart. */
const RUNNER_ID = 5;
const ACME = { id: 90_000_001, login: 'acme', type: 'Organization' };

/**
 * Sends it again after a 503, or a 408 for a body that came late, as GitHub is asked to: a very busy
 * machine takes longer than a sender waits.
 */
async function deliverInTime(ingress: Ingress, delivery: SignedDelivery): Promise<number> {
  for (;;) {
    const { status } = await ingress.deliver(delivery);
    if (status !== 503 && status !== 408) return status;
  }
}

describe('eight connections that send the same jobs', () => {
  let database: TestDatabase;
  const replicas: Ingress[] = [];

  beforeAll(async () => {
    database = await createIngressDatabase();
    for (let replica = 0; replica < 2; replica++) {
      const ingress = await startIngress({
        url: database.url,
        schema: database.schema,
        rules: PATIENT,
      });
      replicas.push(ingress);
      await ingress.untilReady();
    }
  });
  afterAll(async () => {
    for (const ingress of replicas) await ingress.end('SIGKILL');
    await database.drop();
  });

  /**
   * The deadlocks of this database, since it was made. A connection reports its last ones when it
   * ends.
   */
  const deadlocks = async () => {
    const { rows } = await sql<{
      count: number;
    }>`select deadlocks as count from pg_stat_database where datname = current_database()`.execute(
      database.db,
    );
    return rows[0]?.count;
  };

  test('in random order through two replicas: no deadlock, no failed batch, no refusal, and every job and worker as it should be (B6)', async () => {
    const workers = await Promise.all(
      Array.from({ length: JOBS }, () => putWorker(database.db, { runner_id: RUNNER_ID })),
    );
    const deliveries = await Promise.all(
      workers.flatMap((worker, index) =>
        (['queued', 'in_progress', 'completed'] as const).map((action) => {
          const runner =
            action === 'queued'
              ? {}
              : {
                  runner_name: workers.at(-1 - index)?.pod_name ?? worker.pod_name,
                  runner_id: RUNNER_ID,
                };
          const payload = examplePayload('workflow_job', action, {
            workflow_job: { id: 1_000 + index, labels: ['linux'], ...runner },
            repository: { private: true, owner: ACME },
            installation: { id: 51_000_001 },
          });
          return signed('workflow_job', payload);
        }),
      ),
    );
    const orders = fc.sample(fc.shuffledSubarray(deliveries, { minLength: deliveries.length }), {
      numRuns: CONNECTIONS,
    });
    const statuses = new Set<number>();
    await Promise.all(
      orders.map(async (order, connection) => {
        const ingress = replicas[connection % replicas.length];
        if (ingress === undefined) throw new Error('There are replicas.');
        // Enough at a time for each replica to write several batches at once.
        for (let from = 0; from < order.length; from += AT_A_TIME) {
          await Promise.all(
            order
              .slice(from, from + AT_A_TIME)
              .map(async (delivery) => statuses.add(await deliverInTime(ingress, delivery))),
          );
        }
      }),
    );
    expect(statuses).toEqual(new Set([200]));
    for (const ingress of replicas) {
      const refused = (reason = '') => ingress.metric(`paddock_deliveries_refused_total${reason}`);
      const late = [await refused('{reason="too_slow"'), await refused('{reason="body_too_slow"')];
      expect(await refused()).toBe(late.reduce((sum, count) => sum + count, 0));
    }
    expect(
      await Promise.all(
        replicas.map((ingress) => ingress.metric('paddock_events_total{event="batchFailed"}')),
      ),
    ).toEqual([0, 0]);
    expect(
      await Promise.all(replicas.map((ingress) => ingress.metric('paddock_deliveries_total'))),
    ).toEqual([(CONNECTIONS / 2) * deliveries.length, (CONNECTIONS / 2) * deliveries.length]);

    const jobs = await database.db
      .selectFrom('jobs')
      .select(['job_id', 'status', 'k8s_pod'])
      .orderBy('job_id')
      .execute();
    expect(jobs).toEqual(
      workers.map((_worker, index) => ({
        job_id: 1_000 + index,
        status: 'completed',
        k8s_pod: workers.at(-1 - index)?.pod_name,
      })),
    );
    const unbound = await database.db
      .selectFrom('workers')
      .select('pod_name')
      .where('assigned_job_id', 'is', null)
      .execute();
    expect(unbound).toEqual([]);

    for (const ingress of replicas)
      expect(await ingress.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await untilDisconnected(database.db, 'ingress');
    expect(await deadlocks()).toBe(0);
  });
});

const SENDERS = 16;
const ACTIONS = ['queued', 'in_progress', 'completed'] as const;
const RANK = { pending: 0, running: 1, completed: 2, failed: 2 };

interface Acknowledged {
  readonly guid: string;
  readonly jobId: number;
  readonly rank: number;
}

/**
 * Sends each job's deliveries one after the other until the service is gone; reports each that was
 * answered with 200.
 */
async function sendUntilGone(
  ingress: Ingress,
  firstJob: number,
  onAcknowledged: (delivery: Acknowledged) => void,
): Promise<void> {
  for (let jobId = firstJob; ; jobId++) {
    for (const [rank, action] of ACTIONS.entries()) {
      const delivery = await jobDelivery(action, jobId);
      const answer = await ingress.deliver(delivery).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status === 200)
        onAcknowledged({ guid: delivery.headers['x-github-delivery'] ?? '', jobId, rank });
    }
  }
}

describe('a service that is killed outright under load', () => {
  const database = useTestDatabase(createIngressDatabase);

  test('has stored every delivery that it acknowledged, and the job rows agree with them (A9, B5)', async () => {
    const moments = fc.sample(
      fc.record({ after: fc.integer({ min: 1, max: 120 }), ms: fc.integer({ min: 0, max: 20 }) }),
      {
        numRuns: 6,
      },
    );
    const acknowledged: Acknowledged[] = [];
    for (const [round, { after, ms }] of moments.entries()) {
      const ingress = await startIngress({ url: database.url, schema: database.schema });
      await ingress.untilReady();
      let count = 0;
      const note = (delivery: Acknowledged) => {
        acknowledged.push(delivery);
        if (++count === after) setTimeout(() => ingress.kill('SIGKILL'), ms);
      };
      const firstJob = (sender: number) => 1_000_000 * (round * SENDERS + sender + 1);
      await Promise.all(
        Array.from({ length: SENDERS }, (_, sender) =>
          sendUntilGone(ingress, firstJob(sender), note),
        ),
      );
      expect(await ingress.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    }
    await untilDisconnected(database.db, 'ingress');

    const events = await database.db
      .selectFrom('installation_events')
      .select(['delivery_guid', 'job_id'])
      .execute();
    const jobs = await database.db.selectFrom('jobs').select(['job_id', 'status']).execute();
    const stored = new Set(events.map((event) => event.delivery_guid));
    const ranks = new Map(jobs.map((job) => [job.job_id, RANK[job.status]]));
    const missing = acknowledged.filter(
      ({ guid, jobId, rank }) => !stored.has(guid) || (ranks.get(jobId) ?? -1) < rank,
    );
    expect(missing).toEqual([]);
    // Neither without the other, acknowledged or not.
    expect(new Set(events.map((event) => event.job_id))).toEqual(new Set(ranks.keys()));
    expect(acknowledged.length).toBeGreaterThanOrEqual(
      moments.reduce((sum, { after }) => sum + after, 0),
    );
  });
});
