import { giveUpRedeliveries, rememberLostDeliveries } from '@paddock/db/deliveries/redelivery';
import { saveAppIds } from '@paddock/db/instance';
import type { Database, Db } from '@paddock/db/schema/tables';
import { setSwitch } from '@paddock/db/switches';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { done, poison } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { ACME, putInstallation, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { type Insertable, sql } from 'kysely';

/** What a stranger may have named a job, to see what a page makes of it. */
export const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title=1</script>"\'&lt;\u202Egnp';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** GUIDs of deliveries: one that came twice, one that did not come. */
export const CAME = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
export const MISSING = '1b989ba4-242f-11e5-81e1-000000000000';

/** What GitHub delivered, what it could not, and what it no longer can. */
async function putDeliveries(db: Db, hostile: number): Promise<string> {
  const payload = JSON.stringify({ action: 'queued', workflow_job: { name: HOSTILE } });
  const acme = { id: 51_000_001, account: { id: 90_000_001, login: 'acme', type: 'Organization' } };
  const named = (n: number) => ({ id: 780_000_000 + n, full_name: `acme/${['web', HOSTILE][n]}` });
  const installed = {
    ...ACME,
    source: 'webhook' as const,
    event: 'installation.created',
    outcome: 'ok',
    delivery_guid: '3b989ba4-242f-11e5-81e1-000000000000',
    payload: JSON.stringify({
      action: 'created',
      installation: { ...acme, repository_selection: 'selected' },
      repositories: [named(0), named(1)],
    }),
    received_at: ago(9_000),
  };
  const came = {
    ...ACME,
    source: 'webhook' as const,
    event: 'workflow_job.queued',
    outcome: 'job_stored',
    job_id: hostile,
    repo_id: 780_000_001,
    delivery_guid: CAME,
    payload,
    received_at: ago(1),
  };
  const again = { ...came, outcome: 'duplicate_delivery', received_at: ago(0.5) };
  const rows = await db
    .insertInto('installation_events')
    .values([installed, came, again])
    .returning('id')
    .execute();
  const lose = (many: number, minutes: number, guidOf: (n: number) => string) => {
    const lost = Array.from({ length: many }, (_, n) => ({
      guid: guidOf(n),
      deliveryId: String(9_007_199_254_740_993n + BigInt(n)),
      event: n === 1 ? HOSTILE : 'workflow_job',
      action: 'queued',
      installationId: 51_000_001,
      repositoryId: 780_000_001,
      firstFailedAt: ago(minutes),
      lastFailedAt: ago(minutes - 20),
      lastStatusCode: n === 0 ? 0 : 502,
      isDelivered: false,
    }));
    return rememberLostDeliveries(db, 1001, lost, { isAsked: false });
  };
  await lose(2, 4_400, (n) => `gone-${n}`);
  await giveUpRedeliveries(db, 1001, 0);
  await lose(5, 30, (n) => MISSING.replace(/0$/, String(n)));
  return String(rows[1]?.id);
}

/** Rows in every state that the page can show; returns ids of some. */
export async function putFleet(db: Db) {
  await saveAppIds(db, [1001]);
  await sql`update instance set ingress_seen_at = 'infinity', scheduler_seen_at = 'infinity', reconciler_seen_at = 'infinity'`.execute(
    db,
  );
  const spec = { containers: [{ name: 'runner', env: [{ name: 'API_TOKEN', value: 'hidden' }] }] };
  const gpu = { name: 'gpu-a100', labels: ['self-hosted', 'gpu'], template: { spec } };
  await putPools(db, { pools: [{ ...gpu, image: 'ghcr.io/acme/runner:0' }] });
  await putPools(db, {
    pools: [
      { name: 'linux-x64', labels: ['self-hosted', 'linux', 'x64'], maxWorkers: 24 },
      { name: 'linux-arm64', labels: ['self-hosted', 'linux', 'arm64'], maxWorkers: 40 },
      { ...gpu, maxWorkers: 4, resources: { limits: { memory: '8Gi', 'nvidia.com/gpu': 1 } } },
      { name: 'windows', labels: ['self-hosted', 'windows'] },
    ],
    entities: { '*': { maxWorkers: 60 } },
  });
  await putInstallations(db);
  const { waiting, running } = await putDemand(db);
  const failed = await putSupply(db);
  const hostile = await putJob(db, {
    ...X64,
    job_name: HOSTILE,
    workflow_name: HOSTILE,
    job_labels: JSON.stringify([HOSTILE]),
    repo_full_name: `acme/${'x'.repeat(90)}`,
    html_url: 'javascript:document.title=1',
    queued_at: ago(-5),
    created_at: ago(1),
  });
  const huge = await putJob(db, {
    ...X64,
    job_name: HOSTILE.repeat(120),
    workflow_name: 'W'.repeat(10_000),
    created_at: ago(50),
    queued_at: ago(50),
    status: 'completed',
    wants_worker: false,
    conclusion: 'failure',
    completed_at: ago(51),
    started_at: ago(40),
  });
  await sql`
    insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms)
    select date_trunc('hour', now()) - n * interval '1 hour', 90000001, 780000001, 'acme/api', 'CI', case when n % 3 = 0 then 'gpu-a100' else 'linux-x64' end,
      array[n % 40, 30], 2 + n % 9, 3, (2 + n % 9) * 400000, 60000, n % 4 * 50000 from generate_series(1, 400) n`.execute(
    db,
  );
  const event = await putDeliveries(db, hostile.job_id);
  const operation = await putOperations(db);
  const names = ['linux-x64', 'gpu-a100', 'windows', 'acme', 'globex', 'acme/api', 'acme/web'];
  names.push(String(waiting), '51000001', operation, CAME, MISSING);
  return {
    names,
    waiting,
    running,
    failed,
    hostile: hostile.job_id,
    huge: huge.job_id,
    operation,
    event,
  };
}

const X64 = { k8s_pool: 'linux-x64', job_labels: '["self-hosted","linux","x64"]' };

async function putDemand(db: Db) {
  const names = ['build', 'test (node 22, ubuntu)', 'integration', 'lint', 'e2e / chromium'];
  let oldest = 0;
  let running = 0;
  for (let n = 0; n < 46; n += 1) {
    const isWaiting = n < 14;
    const isRunning = !isWaiting && n < 26;
    const pool = n % 7 === 0 ? { k8s_pool: 'gpu-a100', job_labels: '["self-hosted","gpu"]' } : X64;
    const minutes = isWaiting ? 14 - n : n * 3;
    const job = await putJob(db, {
      ...pool,
      job_name: names[n % names.length] ?? 'build',
      workflow_name: n % 2 === 0 ? 'CI' : 'Nightly',
      repo_full_name: n % 3 === 0 ? 'acme/api' : 'acme/web',
      repo_id: n % 3 === 0 ? 780_000_001 : 780_000_002,
      html_url: `https://github.example.com/acme/api/actions/runs/9/job/${n}`,
      status: isWaiting ? 'pending' : isRunning ? 'running' : 'completed',
      wants_worker: isWaiting,
      conclusion: isWaiting || isRunning ? null : (CONCLUSIONS[n % 5] ?? 'success'),
      queued_at: ago(minutes + 0.05),
      created_at: ago(minutes),
      started_at: isWaiting ? null : ago(minutes - 0.4),
      completed_at: isWaiting || isRunning ? null : ago(Math.max(0, minutes - 9)),
      k8s_pod: isRunning ? 'pdk-a1b2c3-linux-x64-0001' : null,
      // Those that ended ran elsewhere.
      runner_name: isWaiting || isRunning ? null : `arc-${n}`,
    });
    if (n === 1) oldest = job.job_id;
    if (isRunning) running = job.job_id;
    const waits = { waiting: 12, unassigned: 3, wait_reason: 'at_pool_cap', wait_since: ago(9) };
    if (n < 2) await putKey(db, job.demand_key, { k8s_pool: job.k8s_pool, ...waits });
  }
  return { waiting: oldest, running };
}

/** A key of acme. */
const putKey = (
  db: Db,
  key: number,
  given: Pick<Insertable<Database['demand_keys']>, 'k8s_pool'> &
    Partial<Insertable<Database['demand_keys']>>,
) =>
  db
    .insertInto('demand_keys')
    .values({
      demand_key: key,
      entity_id: ACME.entity_id,
      entity_name: ACME.entity_name,
      scope_repo_id: 0,
      waiting: 0,
      unassigned: 0,
      ...given,
    })
    .execute();

const CONCLUSIONS = ['success', 'success', 'failure', 'cancelled', 'success'];

async function putSupply(db: Db): Promise<string> {
  for (let n = 0; n < 24; n += 1) {
    const isRunning = n < 18;
    await putWorker(db, {
      pod_name: `pdk-a1b2c3-linux-x64-${String(n).padStart(4, '0')}`,
      k8s_pool: 'linux-x64',
      status: isRunning ? 'running' : 'pending',
      k8s_node: isRunning ? `node-${n % 5}` : null,
      running_at: isRunning ? ago(20 - n) : null,
      assigned_at: n < 15 ? ago(19 - n) : null,
      assigned_job_id: n < 15 ? 34_500_000_020 + n : null,
      stopping_at: n === 17 ? ago(1) : null,
      stop_reason: n === 17 ? 'surplus' : null,
      stuck_reason: n === 23 ? 'image_pull' : null,
      stuck_at: n === 23 ? ago(4) : null,
      created_at: ago(21 - n / 2),
    });
  }
  const failure_info = JSON.stringify({ version: 1, message: 'Insufficient cpu.' });
  const stuck = { stuck_reason: 'unschedulable', stuck_at: ago(9), failure_info };
  await putWorker(db, { k8s_pool: 'gpu-a100', ...stuck });
  const failed = 'pdk-a1b2c3-gpu-a100-0001';
  await putWorker(db, {
    pod_name: failed,
    k8s_pool: 'gpu-a100',
    status: 'failed',
    k8s_node: 'node-3',
    registered_at: ago(31),
    pod_created_at: ago(31),
    running_at: ago(30),
    completed_at: ago(12),
    created_at: ago(32),
    exit_code: 137,
    stop_reason: 'out_of_memory',
    failure_info: JSON.stringify(DIAGNOSIS),
  });
  await putKey(db, 1, {
    k8s_pool: 'gpu-a100',
    failures: 3,
    pauses: 2,
    failure_class: 'image_pull',
    failing_since: ago(9),
    failed_at: ago(1),
    paused_until: ago(-7),
    failure_message: 'image registry.example.com/runner:gpu cannot be pulled: manifest unknown',
  });
  return failed;
}

const DIAGNOSIS = {
  version: 2,
  reason: 'out_of_memory',
  message: 'The container runner was killed for using more memory than its limit.',
  pod: {
    phase: 'Failed',
    reason: null,
    message: null,
    node: 'node-3',
    conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
  },
  containers: [
    {
      name: 'runner',
      exitCode: 137,
      reason: 'OOMKilled',
      message: null,
      log: `√ Connected to GitHub\n2026-01-31 09:00:00Z: Running job: train\n${HOSTILE}\nKilled\n`,
    },
  ],
  events: [
    { type: 'Normal', reason: 'Pulled', message: 'Image is there', count: 1, source: 'kubelet' },
    {
      type: 'Warning',
      reason: 'BackOff',
      message: 'Back-off restarting failed container',
      count: 4,
      source: 'kubelet',
    },
  ],
};

async function putInstallations(db: Db): Promise<void> {
  for (const [n, login] of ['acme', 'globex', 'initech'].entries())
    await putInstallation(db, {
      entity_id: 90_000_001 + n,
      entity_type: n === 2 ? 'User' : 'Organization',
      login,
      installation_id: 51_000_001 + n,
      suspended_at: n === 1 ? ago(3_000) : null,
      repository_selection: n === 0 ? 'all' : 'selected',
    });
  await sql`
    insert into actions (person, came_from, endpoint, subject, note)
    values ('ada', 'terminal', 'drain', '{"of":"pool","name":"gpu-a100"}', 'the driver update hangs'),
      ('token ci', 'api', 'runSweep', '{"app":1001,"sweep":"redeliver"}', null)`.execute(db);
  await setSwitch(db, 'pool:windows', 'ada', 'the image is being rebuilt');
}

async function putOperations(db: Db): Promise<string> {
  const acme = { entity_id: ACME.entity_id, app_id: 1001, active_at: ago(1), looked_at: ago(4) };
  await db
    .insertInto('repositories')
    .values([
      { ...acme, repo_id: 780_000_001, full_name: 'acme/api' },
      { ...acme, repo_id: 780_000_002, full_name: 'acme/web', resynced_at: ago(9_000) },
      { ...acme, repo_id: 3, entity_id: 90_000_002, full_name: 'globex/app', looked_at: null },
    ])
    .onConflict((known) =>
      known.column('repo_id').doUpdateSet(({ ref }) => ({ full_name: ref('excluded.full_name') })),
    )
    .execute();
  await setSwitch(db, 'discover-jobs:acme/web', 'grace', 'too large');
  await sql`insert into schedules (name, last_tick_at) values ('redeliver:1001', now())`.execute(
    db,
  );
  const subject = { type: 'repository', id: 'acme/api', name: 'acme/api' };
  const tasks = await enqueueAlone(db, [
    { kind: 'discover-jobs', subject, requestedBy: 'token ci' },
    ...Array.from({ length: 8 }, (_, n) => ({
      kind: 'remove-secret',
      subject: { type: 'worker', id: `pdk-a1b2c3-linux-x64-000${n}` },
    })),
  ]);
  await runDueTasks({
    db,
    kinds: {
      'discover-jobs': {
        slots: 1,
        handler: () => Promise.resolve(done({ looked: 214, found: 2 })),
      },
      'remove-secret': {
        slots: 8,
        handler: () => Promise.resolve(poison('the namespace runners refused it: 403 Forbidden')),
      },
    },
  });
  return tasks[0]?.id ?? '';
}
