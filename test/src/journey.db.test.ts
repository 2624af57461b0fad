import { describe, expect, test } from '@jest/globals';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { runSweepEndpoint } from '@paddock/api/sweeps/sweeps';
import { listUsageEndpoint } from '@paddock/api/usage/usage';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { waitFor } from '@paddock/testing/wait-for';
import { type TestSystem, useSystem } from './start-system.ts';

const SERVICES = { ingress: {}, scheduler: {}, reconciler: {} };

describe('the journey of a job, over HTTP and through processes', () => {
  const system = useSystem(SERVICES);

  const jobRow = (id: number) =>
    system.database.db.selectFrom('jobs').selectAll().where('job_id', '=', id).executeTakeFirst();
  const ended = async (id: number) => {
    await system.untilJobs([id], 'completed');
    return jobRow(id);
  };
  const workersOf = (id: number) =>
    system.database.db.selectFrom('workers').selectAll().where('assigned_job_id', '=', id);
  const eventsOf = (id: number) =>
    system.database.db.selectFrom('installation_events').selectAll().where('job_id', '=', id);

  test('a signed webhook becomes a runner pod and ends completed (P1, A5, B7, C6, C8)', async () => {
    const { db } = system.database;
    const [id = 0] = await system.queueJobs(1, {
      labels: ['self-hosted', 'Linux'],
      durationMs: 50,
    });
    const job = await ended(id);
    expect(job).toMatchObject({
      k8s_pool: 'linux',
      job_labels: ['linux', 'self-hosted'],
      wants_worker: false,
      conclusion: 'success',
      entity_name: 'acme',
    });
    const worker = await waitFor('the worker to end', () =>
      workersOf(id).where('status', '=', 'completed').executeTakeFirst(),
    );
    expect(worker).toMatchObject({
      pod_name: job?.k8s_pod,
      made_for_job_id: id,
      exit_code: 0,
      repo_full_name: null,
      scope_repo_id: 0,
      registered_labels: ['linux', 'self-hosted'],
    });
    expect(worker.pod_name).toMatch(/^pdk-[a-z0-9]{6}-linux-[0-9a-f]{12}$/);
    await waitFor('the Secret to go', () => system.cluster.report().secretsLeft.length === 0);
    // Discovery, at once due in an installation that is new, may have told a part of it before its
    // delivery (E2).
    const events = await waitFor('an event of each delivery', async () => {
      const told = await eventsOf(id).where('source', '=', 'webhook').execute();
      // One that GitHub had to repeat has two.
      const kinds = new Set(told.map(({ event }) => event));
      return kinds.size >= 3 && kinds;
    });
    expect([...events].toSorted()).toEqual([
      'workflow_job.completed',
      'workflow_job.in_progress',
      'workflow_job.queued',
    ]);
    const provisioned = await waitFor('its provisioning to be settled', () =>
      db
        .selectFrom('operations')
        .select('status')
        .where('subject_id', '=', worker.pod_name)
        .where('kind', '=', 'provision-worker')
        .executeTakeFirst(),
    );
    expect(provisioned).toEqual({ status: 'OK' });
    const guids = await db
      .selectFrom('operations')
      .select('delivery_guid')
      .distinct()
      .where('subject_id', '=', worker.pod_name)
      .execute();
    expect(guids).toEqual([{ delivery_guid: worker.delivery_guid ?? 'none' }]);
  });

  test('each repository of a user gets separate runners (C2)', async () => {
    const jobs = await Promise.all(
      ['mona/dotfiles', 'mona/compiler'].map((repo) =>
        system.github.queueJob({ repo, labels: ['self-hosted', 'linux'], durationMs: 20 }),
      ),
    );
    for (const { id, repo, repositoryId } of jobs) {
      await ended(id);
      const scope = { scope_repo_id: repositoryId, repo_full_name: repo, entity_type: 'User' };
      expect(await workersOf(id).execute()).toMatchObject([scope]);
    }
  });

  test('a job that names a runner group alone gets a runner of it, and nobody else’s does (B4, C7)', async () => {
    const onlyGroup = { labels: [], group: 'deploy', durationMs: 20 };
    const [id = 0] = await system.queueJobs(1, onlyGroup);
    expect(await ended(id)).toMatchObject({
      k8s_pool: 'deploy',
      job_labels: [],
      conclusion: 'success',
    });
    expect(await workersOf(id).execute()).toMatchObject([{ registered_labels: ['deploy'] }]);
    const [others = 0] = await system.queueJobs(1, { ...onlyGroup, repo: 'mona/dotfiles' });
    const event = await waitFor('its event', () =>
      eventsOf(others).where('source', '=', 'webhook').executeTakeFirst(),
    );
    expect([event.outcome, await jobRow(others)]).toEqual(['ignored_pool_closed', undefined]);
  });

  test('a job for none of our pools is recorded and makes no worker (B4)', async () => {
    const [id = 0] = await system.queueJobs(1, { labels: ['ubuntu-latest'], hosted: true });
    const outcomes = await waitFor('its event', async () => {
      const rows = await eventsOf(id).execute();
      return rows.length > 0 && rows;
    });
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['ignored_no_label']));
    expect(await jobRow(id)).toBeUndefined();
  });

  test('deliveries that GitHub fails to deliver are asked for again (E1)', async () => {
    await system.github.setDeliveryFaults({ dropActions: ['queued', 'completed'] });
    const [id = 0] = await system.queueJobs(1, { durationMs: 20 });
    expect(await ended(id)).toMatchObject({ conclusion: 'success' });
    await system.github.setDeliveryFaults({});
    // Discovery and looking up may be faster than the log; the deliveries come in all the same.
    await waitFor(
      'both deliveries to be repeated',
      async () => (await system.github.report()).redelivered >= 2,
    );
  });

  test('more jobs than the entity may have workers: the cap holds, the rest waits with a reason, all complete (C4, C5, P5)', async () => {
    const jobs = await system.queueJobs(12, { durationMs: 300 });
    const held = await waitFor('the cap to be the reason for waiting', () =>
      system.database.db
        .selectFrom('demand_keys')
        .select('cap')
        .where('wait_reason', '=', 'at_entity_cap')
        .executeTakeFirst(),
    );
    expect(held).toEqual({ cap: 5 });
    await system.untilJobs(jobs, 'completed');
    expect(system.cluster.report().mostActivePods).toBeLessThanOrEqual(6); // five of acme's, and one of mona's at the most
    expect((await system.github.report()).excessWorkers).toBe(0);
  });

  test('usage adds up to the times of the workers (G1)', async () => {
    const { db } = system.database;
    const jobs = await system.queueJobs(2, { durationMs: 1_500 });
    await system.untilJobs(jobs, 'completed');
    await system.untilWorkersEnd();
    const rows = await db.selectFrom('workers').select(['running_at', 'completed_at']).execute();
    const caller = { db, person: 'ada', from: 'api' } as const;
    const sweep = runSweepEndpoint.input.parse({ sweep: 'upkeep' });
    const { id: operation } = await runSweepEndpoint.answer(caller, sweep);
    await waitFor('the sums', async () => {
      const { status } = await findOperationEndpoint.answer(caller, { operation });
      return status === 'OK';
    });
    const { total } = await listUsageEndpoint.answer(caller, listUsageEndpoint.input.parse({}));
    expect(total).toMatchObject({ workers: rows.length, thrownAwayMinutes: 0 });
    const ranMs = rows.reduce(
      (sum, row) => sum + Number(row.completed_at) - Number(row.running_at),
      0,
    );
    expect(total.runnerMinutes).toBeCloseTo(ranMs / 60_000, 6);
    expect(ranMs).toBeGreaterThanOrEqual(3_000);
  });
});

const completed = async (system: TestSystem, count: number) => {
  const ids = await system.queueJobs(count, { durationMs: 50 });
  await system.untilJobs(ids, 'completed');
  return ids;
};

describe('two environments in two schemas of one database, in one namespace of one cluster (A8)', () => {
  const production = useSystem(SERVICES);
  const staging = useSystem(SERVICES, { beside: { system: production, schema: 'staging' } });

  test('both make progress at the same time, and neither sees jobs of the other', async () => {
    const done = await Promise.all([completed(production, 4), completed(staging, 3)]);
    for (const [nth, system] of [production, staging].entries()) {
      expect(new Set(await system.jobsThat('completed'))).toEqual(new Set(done[nth]));
      expect(await system.github.report()).toMatchObject({ excessWorkers: 0, lost: 0 });
    }
  });

  test('a matcher that holds its lock in one environment does not hold up the other', async () => {
    const limitMs = { lockTimeoutMs: 60_000, statementTimeoutMs: 60_000, idleTimeoutMs: 150_000 };
    await production.database.db.transaction().execute(async (trx) => {
      await lockMatching(trx, limitMs);
      expect(await completed(staging, 1)).toHaveLength(1);
    });
  });
});
