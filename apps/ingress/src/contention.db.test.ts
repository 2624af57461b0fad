import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { fc } from '@paddock/testing/random-cases';
import { putWorker } from '@paddock/testing/worker-rows';
import { examplePayload, type SignedDelivery } from '@paddock/testing/signed-delivery';
import { untilDisconnected } from '@paddock/testing/until-disconnected';
import { sql } from 'kysely';
import {
  createIngressDatabase,
  type Ingress,
  PATIENT,
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
