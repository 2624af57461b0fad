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
  const presetOf = (slots: number): GraphileConfig.Preset => ({
    worker: {
      connectionString: url,
      schema,
      logger,
      concurrentJobs: slots,
      maxPoolSize: Math.min(slots + 2, MOST_CONNECTIONS),
      ...TUNED,
    },
  });
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
      const runner = await run({
        preset: presetOf(slots),
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
      const { rows } = await pool.query<{ some: boolean }>(
        `select exists (select from ${schema}._private_jobs) as some`,
      );
      return rows[0]?.some === true;
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
