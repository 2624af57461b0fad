import { expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { declareReconcilerGauges } from './reconciler-gauges.ts';

const database = useTestDatabase();

/** One replica's values of these gauges, by name. */
function startReplica() {
  const metrics = createMetrics();
  declareReconcilerGauges(metrics, database.dbOf('reconciler'), {
    stopAlertMs: 60_000,
    schedules: () => [],
  });
  return async () => {
    const lines = (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('paddock_'));
    return Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
    );
  };
}

const NOTHING = {
  paddock_jobs_stuck: 0,
  paddock_jobs_misjudged: 0,
  paddock_worker_stops_held_up: 0,
  paddock_redelivery_oldest_unresolved_seconds: 0,
};

/** The gauges once PostgreSQL has answered in time. */
const reading = (scrape: ReturnType<typeof startReplica>) =>
  waitFor('the gauges', async () => {
    const shown = await scrape();
    return 'paddock_jobs_stuck' in shown && shown;
  });

test('every replica reads the same from the rows, even if another made the last pass (H5)', async () => {
  const { db } = database;
  const replicas = [startReplica(), startReplica()];
  await putJob(db, { recovery_attempts: 3 });
  await putJob(db, { recovery_attempts: 2 });
  await putJob(db, { status: 'completed', wants_worker: false, misjudged: true });
  const stopping = {
    status: 'running',
    stopping_at: minutesAgo(10),
    stop_held_by: 'GitHub',
    stop_held_since: minutesAgo(5),
  } as const;
  await putWorker(db, stopping);
  await putWorker(db, { ...stopping, stop_held_since: minutesAgo(0) });
  await sql`insert into unresolved_deliveries (app_id, guid, delivery_id, event, first_failed_at, last_failed_at, last_status_code)
    values (7, 'guid', 1, 'workflow_job', now() - interval '10 minutes', now(), 500)`.execute(db);
  for (const scrape of replicas) {
    expect(await reading(scrape)).toEqual({
      paddock_jobs_stuck: 1,
      paddock_jobs_misjudged: 1,
      paddock_worker_stops_held_up: 1,
      paddock_redelivery_oldest_unresolved_seconds: expect.closeTo(600, -2),
    });
  }
  await sql`truncate jobs, workers, unresolved_deliveries`.execute(db);
  for (const scrape of replicas) {
    const isNew = async () => (await reading(scrape))['paddock_jobs_stuck'] === 0;
    await waitFor('a reading since then', isNew);
    expect(await reading(scrape)).toEqual(NOTHING);
  }
});
