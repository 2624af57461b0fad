import { expect, test } from '@jest/globals';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { watchOutages } from '@paddock/db/connection/database-outage';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { enqueue } from './enqueue.ts';
import { done, type Handler } from './kind.ts';

const queue = useQueue();
const { database } = queue;

test('PostgreSQL goes silent and another answers at its address: an executor goes on, and its run keeps its task (D5)', async () => {
  const { db, schema } = database;
  const tunnel = await startTunnel(database.url);
  const { outage } = watchOutages(SILENT_LOG);
  const place = { url: tunnel.url, schema, outage };
  const connection = connectDatabase({ ...place, poolSize: 8, applicationName: 'silent' });
  const ran: string[] = [];
  const finish = Promise.withResolvers<unknown>();
  const handler: Handler = async ({ subject }) => {
    if (subject.id === 'lasting') await finish.promise;
    ran.push(subject.id);
    return done();
  };
  const kinds = { probe: { slots: 4, handler } };
  const config = clientConfig({ ...place, applicationName: 'silent-own' });
  const own = { config, holder: 'silent', claimMs: 300_000, pollMs: 200 };
  const { told } = queue.start(kinds, own, { ...place, db: connection.db });
  await queue.enqueue(task('probe', 'before'), task('probe', 'lasting'));
  await waitFor('the first run', () => ran.includes('before'));
  await waitFor(
    'its settlement',
    async () => (await db.selectFrom('operations').select('id').execute()).length === 1,
  );
  // A claim is on its way when PostgreSQL goes silent: it commits, and its answer is lost.
  await db.transaction().execute(async (trx) => {
    await sql`lock table tasks in exclusive mode`.execute(trx);
    await enqueue(trx, [task('probe', 'claimed')]);
    await untilBlocked(db, { applicationName: 'silent' });
    // The pool's connection, the heartbeat's if it has one yet, and the listener's.
    tunnel.replaceServer();
    expect(tunnel.silenced()).toBeGreaterThanOrEqual(2);
  });
  await queue.enqueue(task('probe', 'after'));
  await waitFor('the runs after it', () => ran.includes('after') && ran.includes('claimed'));
  finish.resolve(undefined);
  await waitFor(
    'an empty queue',
    async () => (await db.selectFrom('tasks').select('id').execute()).length === 0,
  );
  expect(ran.toSorted()).toEqual(['after', 'before', 'claimed', 'lasting']);
  const { lost, released, takenOver, endedByCrashes } = told;
  expect([lost, released, takenOver, endedByCrashes]).toEqual([[], [], [], []]);
  await queue.stopAll();
  await connection.close();
  await outage.close();
  await tunnel.cut();
});
