import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { batchSizes, type Contender } from './contender.ts';

const TASK = 'no_op';
const CONCURRENCY = 24;

/** What its page on performance measures with. */
const TUNED: GraphileConfig.WorkerOptions = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

/** Like our services at `warn`: its line per job is not written. */
const logger = new Logger(() => (level, message) => {
  if (level === 'error' || level === 'warning') process.stderr.write(`graphile-worker: ${message}\n`);
});

/** graphile-worker with 24 jobs at once: as it comes otherwise, or tuned as its documentation says. */
export async function createGraphile(url: string, variant: 'graphile-default' | 'graphile-tuned'): Promise<Contender> {
  const schema = variant.replace('-', '_');
  const utils = await makeWorkerUtils({ connectionString: url, schema, logger });
  await utils.migrate();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const preset: GraphileConfig.Preset = {
    worker: {
      connectionString: url,
      schema,
      logger,
      concurrentJobs: CONCURRENCY,
      maxPoolSize: CONCURRENCY + 2,
      ...(variant === 'graphile-tuned' ? TUNED : {}),
    },
  };
  return {
    variant,
    async enqueue(count) {
      if (count === 1) {
        await utils.addJob(TASK, {});
        return;
      }
      for (const size of batchSizes(count)) {
        await utils.addJobs(Array.from({ length: size }, () => ({ identifier: TASK, payload: {} })));
      }
    },
    async start(onStart) {
      const runner = await run({ preset, taskList: { [TASK]: () => onStart() }, noHandleSignals: true, crontab: '' });
      return async () => {
        await runner.stop();
        await runner.promise;
      };
    },
    async hasUnsettled() {
      const { rows } = await pool.query<{ some: boolean }>(`select exists (select from ${schema}._private_jobs) as some`);
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
