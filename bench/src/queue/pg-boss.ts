import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { batchSizes, type Contender } from './contender.ts';

const QUEUE = 'no-op';
const SCHEMA = 'pgboss';

/**
 * pg-boss in batches, woken by its notifications. Completed jobs stay in its table for a week, so
 * it keeps history too.
 */
export async function createPgBoss(url: string): Promise<Contender> {
  const boss = new PgBoss({ connectionString: url, schema: SCHEMA, useListenNotify: true });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue(QUEUE, { notify: true });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    variant: 'pg-boss',
    async enqueue(count) {
      if (count === 1) {
        await boss.send(QUEUE, {});
        return;
      }
      for (const size of batchSizes(count)) {
        await boss.insert(
          QUEUE,
          Array.from({ length: size }, () => ({ data: {} })),
        );
      }
    },
    async start(slots, onStart) {
      await boss.work(QUEUE, { batchSize: slots, burstWhenBatchFull: true }, (jobs) => {
        for (let started = 0; started < jobs.length; started++) onStart();
        return Promise.resolve();
      });
      return () => boss.offWork(QUEUE, { wait: true });
    },
    async hasUnsettled() {
      const { rows } = await pool.query<{ some: boolean }>(
        `select exists (select from ${SCHEMA}.job where state < 'completed') as some`,
      );
      return rows[0]?.some === true;
    },
    clear: async () => void (await pool.query(`truncate ${SCHEMA}.job`)),
    async close() {
      await boss.stop();
      await pool.end();
    },
  };
}
