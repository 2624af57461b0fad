import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { batchSizes, type Contender } from './measure.ts';

const TASK = 'no_op';
/**
 * More would exceed PostgreSQL's connections; the queue fetches and settles no-op jobs faster than
 * it uses these up.
 */
const MOST_CONNECTIONS = 40;

/** The settings of its own benchmark, by its page on performance. */
const TUNED: GraphileConfig.WorkerOptions = {
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

/**
 * Quiet, like our services, which write no line per job at this log level. It also warns at 500
 * slots that it has fewer connections.
 */
const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`);
});

/** graphile-worker, tuned as its documentation says. */
export async function createGraphile(url: string): Promise<Contender> {
  const schema = 'graphile';
  const utils = await makeWorkerUtils({ connectionString: url, schema, logger });
  await utils.migrate();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    variant: 'graphile',
    async enqueue(count) {
      const job = { identifier: TASK, payload: {} };
      if (count === 1) await utils.addJob(TASK, {});
      else
        for (const size of batchSizes(count))
          await utils.addJobs(Array.from({ length: size }, () => job));
    },
    async start(slots, onStart) {
      const maxPoolSize = Math.min(slots + 2, MOST_CONNECTIONS);
      const own = { connectionString: url, schema, logger, concurrentJobs: slots, maxPoolSize };
      const runner = await run({
        preset: { worker: { ...own, ...TUNED } },
        taskList: { [TASK]: () => onStart() },
        noHandleSignals: true,
        crontab: '',
      });
      return async () => {
        await runner.stop();
        await runner.promise;
      };
    },
    async hasUnsettled() {
      const { rows } = await pool.query(`select from ${schema}._private_jobs limit 1`);
      return rows.length > 0;
    },
    async clear() {
      await pool.query(`truncate ${schema}._private_jobs`);
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}
