import { expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { closeServedPools, noteWorkerFailure } from './worker-failures.ts';

const database = useTestDatabase();

const fail = async () => {
  const ended = { status: 'failed', completed_at: new Date() } as const;
  const { pod_name: podName } = await putWorker(database.db, ended);
  await noteWorkerFailure(
    { db: database.db, breakerRules: BREAKER_RULES },
    { podName, failureClass: 'exit_code', message: 'ended' },
  );
};

test.each([
  ['after it closes the breaker', '1 s', 0],
  ['before it does not', '-1 s', 2],
])(
  'the job of a worker that was reserved before the last failure and registered %s (C11)',
  async (_when, since, left) => {
    for (const table of ['workers', 'breakers'] as const)
      await database.db.deleteFrom(table).execute();
    for (let n = 0; n < BREAKER_RULES.failures; n += 1) await fail();
    await putWorker(database.db, {
      created_at: sql<Date>`now() - interval '20 minutes'`,
      registration_started_at: sql<Date>`now() + ${since}::interval`,
      status: 'completed',
      completed_at: new Date(),
      assigned_at: new Date(),
    });
    await closeServedPools(database.db);
    const breakers = await database.db.selectFrom('breakers').select('subject_id').execute();
    expect(breakers).toHaveLength(left);
  },
);
