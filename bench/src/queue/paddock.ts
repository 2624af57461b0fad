import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { createExecutor } from '@paddock/queue/executor';
import { executorEvents } from '@paddock/queue/executor-events';
import { executorRules, executorSettings } from '@paddock/queue/executor-settings';
import { queueRules } from '@paddock/queue/rules';
import { done } from '@paddock/queue/kind';
import { createLogger } from '@paddock/runtime/logger';
import { createMetrics } from '@paddock/runtime/metrics';
import { readConfig } from '@paddock/runtime/read-config';
import { sql } from 'kysely';
import { batchSizes, type Contender } from './measure.ts';

const SCHEMA = 'paddock';
const KIND = 'no-op';

/**
 * Our queue, wired as in the services: all columns, history, counts, triggers, log and metrics,
 * with the settings' defaults.
 */
export async function createPaddock(url: string): Promise<Contender> {
  await migrate({ url, schema: SCHEMA });
  const databaseOptions = { url, schema: SCHEMA, applicationName: 'bench-paddock' };
  const connection = connectDatabase({ ...databaseOptions, poolSize: 10 });
  const { db } = connection;
  const log = createLogger('bench', 'warn');
  const metrics = createMetrics();
  const events = executorEvents(metrics, log);
  const declared = { settings: executorSettings, rules: { queue: queueRules } };
  const config = readConfig(declared, {}, () => ({ drainMs: 30_000 }));
  let subjects = 0;
  let starts = 0;
  return {
    variant: 'paddock',
    async enqueue(count) {
      for (const size of batchSizes(count)) {
        const tasks = Array.from({ length: size }, () => ({
          kind: KIND,
          subject: { type: 'bench', id: String(++subjects) },
        }));
        await enqueueAlone(db, tasks);
      }
    },
    start(slots, onStart) {
      const handler = () => {
        onStart();
        return Promise.resolve(done());
      };
      const executor = createExecutor({
        connection,
        config: clientConfig(databaseOptions),
        schema: SCHEMA,
        kinds: { [KIND]: { handler, slots } },
        holder: `bench/${++starts}`,
        events,
        ...executorRules(config),
      });
      const stopping = new AbortController();
      const running = executor.run(stopping.signal);
      return Promise.resolve(() => {
        stopping.abort();
        return running;
      });
    },
    async hasUnsettled() {
      const tasks = await db.selectFrom('tasks').select('id').limit(1).execute();
      return tasks.length > 0;
    },
    async clear() {
      await sql`truncate tasks, operations, task_counts`.execute(db);
    },
    close: () => connection.close(),
  };
}
