import { describe, expect, test } from '@jest/globals';
import { reduceJobPayload } from '@paddock/domain/deliveries/delivery-bodies';
import { createTestDatabase } from '@paddock/testing/database';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  CONFIG,
  PATIENT,
  SECRET,
  createIngressDatabase,
  jobDelivery,
  putPoolsOf,
  useIngresses,
  waitForWriter,
} from './scenes/ingress.scene.ts';

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

describe('the ingress as a process', () => {
  const database = useTestDatabase(createIngressDatabase);
  const startOne = useIngresses(database);

  const start = async (env: Record<string, string> = {}) => {
    const ingress = await startOne({ env });
    await ingress.untilReady();
    return ingress;
  };

  test('stores a queued delivery, answers after the commit, and stops cleanly on SIGTERM (A9, B5, H2)', async () => {
    const ingress = await start();
    expect(await ingress.queue(900)).toMatchObject({ status: 200, text: 'job_stored' });
    const jobs = await database.db
      .selectFrom('jobs')
      .select(['status', 'wants_worker', 'k8s_pool', 'job_labels'])
      .execute();
    expect(jobs).toEqual([
      { status: 'pending', wants_worker: true, k8s_pool: 'small', job_labels: ['linux'] },
    ]);
    expect(await ingress.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(ingress.lines().join('\n')).not.toContain(SECRET);
  });

  test('measures deliveries, their batches, and how long jobs wait and run (H5)', async () => {
    const ingress = await start();
    const instants = {
      created_at: '2026-01-01T10:00:00Z',
      started_at: '2026-01-01T10:00:30Z',
      completed_at: '2026-01-01T10:10:30Z',
    };
    for (const action of ['queued', 'in_progress', 'completed', 'completed'] as const) {
      await ingress.deliver(
        await jobDelivery(action, 900, {
          runner_name: action === 'queued' ? null : 'pdk-1',
          ...instants,
        }),
      );
    }
    const page = await Promise.all(
      [
        'job_queue_seconds_sum{pool="small",held="no"}',
        'job_queue_seconds_count{pool="small",held="no"}',
        'job_run_seconds_sum{pool="small"}',
        'job_run_seconds_count{pool="small"}',
        'delivery_seconds_count',
        'delivery_batch_seconds_count',
      ].map((name) => ingress.metric(`paddock_${name}`)),
    );
    expect(page).toEqual([30, 1, 600, 1, 4, 4]);
    for (const name of ['delivery', 'delivery_batch'])
      expect(await ingress.metric(`paddock_${name}_seconds_sum`)).toBeGreaterThan(0);
  });

  test('tells late starts for which a limit of people was the reason from all others (H5)', async () => {
    const ingress = await start();
    const count = (held: string, le = '+Inf') =>
      ingress.metric(`paddock_job_queue_seconds_bucket{le="${le}",pool="small",held="${held}"}`);
    const startJob = async (id: number, queuedSeconds: number, reasons: readonly string[]) => {
      const startedAt = Date.parse(inSeconds(10));
      const instants = {
        created_at: new Date(startedAt - queuedSeconds * 1_000).toISOString(),
        started_at: new Date(startedAt).toISOString(),
      };
      const job = { runner_name: null, ...instants };
      await ingress.deliver(await jobDelivery('queued', id, job));
      for (const reason of reasons)
        await sql`insert into wait_reason_changes (demand_key, reason, since, until)
          select demand_key, ${reason}, now(), now() + interval '1 second' from jobs where job_id = ${id}`.execute(
          database.db,
        );
      await ingress.deliver(await jobDelivery('in_progress', id, { ...job, runner_name: 'pdk-1' }));
    };
    await startJob(901, 61, ['github_budget', 'no_capacity']);
    await waitFor('a late start', async () => (await count('no')) === 1);
    await startJob(902, 61, ['at_pool_cap']);
    await waitFor('one behind a limit', async () => (await count('limit')) === 1);
    await startJob(903, 60, ['at_pool_cap']);
    await waitFor('a start in time', async () => (await count('no', '60')) === 1);
    await sql`with gone as (delete from wait_reason_changes returning demand_key)
      insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, wait_reason, wait_since)
      select distinct demand_key, 1, 'acme', 0, 'small', 1, 0, 'making_stopped', now() from gone`.execute(
      database.db,
    );
    await startJob(904, 61, []);
    await waitFor('one that still waits for a limit', async () => (await count('limit')) === 2);
    expect(await count('no')).toBe(2);
  });

  test('the log names a webhook port that is taken, and the process ends (H1)', async () => {
    const ingress = await start();
    const second = startOne({ env: { PADDOCK_PUBLIC_PORT: String(ingress.port) } });
    await expect(second).rejects.toThrow(`It is not possible to listen on port ${ingress.port}`);
  });

  test('deliveries under way when it stops are still stored and answered (H2)', async () => {
    const ingress = await start();
    const { answers } = await database.db.transaction().execute(async (trx) => {
      await sql`lock table jobs in exclusive mode`.execute(trx);
      const sent = [901, 902, 903].map((id) => ingress.queue(id));
      await waitForWriter(database);
      await waitFor(
        'all of them',
        async () => (await ingress.metric('paddock_requests_in_flight')) === 3,
      );
      ingress.kill('SIGTERM');
      await waitFor('the beginning of the stop', () =>
        ingress.lines().some((line) => line.includes('stopping')),
      );
      // The page gives the reason for refusing, until the last delivery has its answer.
      expect(await ingress.ask('/readyz')).toEqual({
        status: 503,
        text: 'the service is stopping',
      });
      return { answers: sent };
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await ingress.exited).toEqual({ code: 0, signal: null });
    expect(await database.db.selectFrom('jobs').select('job_id').execute()).toHaveLength(3);
  });

  test('stores a job that no pool serves cut down, or whole where that is set (A4)', async () => {
    const delivery = await jobDelivery('queued', 900, { labels: ['no-pool-serves-this'] });
    const kept = async (env: Record<string, string>) => {
      expect(await (await start(env)).deliver(delivery)).toMatchObject({
        text: 'ignored_no_label',
      });
      const { payload } = await database.db
        .deleteFrom('installation_events')
        .returning('payload')
        .executeTakeFirstOrThrow();
      return payload;
    };
    const whole = JSON.parse(delivery.body);
    expect(await kept({})).toEqual(
      JSON.parse(reduceJobPayload(whole, Buffer.byteLength(delivery.body))),
    );
    expect(await kept({ PADDOCK_IGNORED_JOB_PAYLOAD: 'full' })).toEqual(whole);
  });

  test('is not ready, and says why, until the scheduler has loaded the pools (B4, H1)', async () => {
    const empty = await createTestDatabase();
    const ingress = await startOne({
      url: empty.url,
      schema: empty.schema,
      rules: { ...PATIENT, db: { poolsRefreshMs: 100 } },
    });
    const reason = await waitFor('the reason', async () => {
      const { status, text } = await ingress.ask('/readyz');
      return status === 503 && text.includes('pools document') ? text : undefined;
    });
    expect(reason).toBe(
      'there is no pools document in the database yet: the scheduler loads it from its configuration file',
    );
    expect(await ingress.queue(900)).toMatchObject({ status: 503 });
    await putPoolsOf(empty, CONFIG);
    await ingress.untilReady();
    expect(await ingress.queue(900)).toMatchObject({ status: 200, text: 'job_stored' });
    await ingress.end('SIGTERM');
    await empty.drop();
  });
});
