import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { findInstance } from '@paddock/db/instance';
import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { examplePools } from '@paddock/testing/demand-rows';
import { deleteRunner, findRunner } from '@paddock/github/runners';
import { listPods } from '@paddock/kube/pods';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { takeList } from './following/follow-pods.ts';
import { NAMESPACE, type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';
import { APP_ID, FOLLOWING } from './scenes/settings.scene.ts';

// acme attacks; sam has done nothing and uses the same pool.
let world: SchedulerWorld;
let sam: Awaited<ReturnType<SchedulerWorld['addUser']>>;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  sam = await world.addUser('sam', ['one']);
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const pods = async () =>
  (await listPods(world.cluster, { namespace: NAMESPACE, instance: await findInstance(world.db) }))
    .pods;
const workersOf = async (login: string) =>
  (await world.workers()).filter(({ entity_name: name }) => name === login);
const living = async (login: string) =>
  (await workersOf(login)).filter(({ status }) => status === 'pending' || status === 'running');

/** Three jobs of acme on runners that are up, by the runners' names. */
async function startThree(): Promise<Map<string, number>> {
  for (let n = 0; n < 3; n += 1) await world.queueJob();
  await world.match();
  await world.runTasks();
  await waitFor(
    'the pods to run',
    async () => (await pods()).filter(({ phase }) => phase === 'Running').length === 3,
  );
  return new Map(
    (await workersOf('acme')).map((worker) => [worker.pod_name, worker.made_for_job_id ?? 0]),
  );
}

/** These runners end with an error, and the follower sees their ends. */
async function endAll(names: Iterable<string>): Promise<void> {
  for (const name of names)
    world.kube.endPod({ namespace: NAMESPACE, name, end: 'failed', exitCode: 1 });
  const ended = await waitFor('the pods to fail', async () => {
    const list = await pods();
    return list.every(({ phase }) => phase === 'Failed') ? list : undefined;
  });
  await takeList({ ...world.parts, ...FOLLOWING }, NAMESPACE, ended, []);
}

/** GitHub's word that a job runs on a runner, as ingress stores it. */
async function hearInProgress(jobId: number, runnerName: string): Promise<void> {
  const runner = await world.db
    .selectFrom('workers')
    .select('runner_id')
    .where('pod_name', '=', runnerName)
    .executeTakeFirstOrThrow();
  const body = examplePayload('workflow_job', 'in_progress', {
    workflow_job: {
      id: jobId,
      labels: ['linux'],
      runner_name: runnerName,
      runner_id: runner.runner_id,
      started_at: new Date().toISOString(),
    },
    repository: {
      id: world.apiRepositoryId,
      full_name: 'acme/api',
      private: true,
      owner: { id: world.entityId, login: 'acme', type: 'Organization' },
    },
    installation: { id: world.installationId },
  });
  const parsed = parseDelivery('workflow_job', body);
  if (parsed.kind !== 'job') throw new Error('The example is no delivery of a job.');
  const payload = JSON.stringify(body);
  const digest = bodyDigest({ appId: APP_ID, event: 'workflow_job' }, payload);
  const delivery = {
    guid: crypto.randomUUID(),
    appId: APP_ID,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: digest,
  };
  await recordDeliveries(world.db, [delivery], { version: 1, document: world.pools });
}

/** How many of five jobs of sam have their runner at once. */
async function serveOthers(): Promise<number> {
  for (let n = 0; n < 5; n += 1) await world.queueJobOf(sam, 'one');
  await world.match();
  await world.runTasks();
  const key = world.db
    .selectFrom('demand_keys')
    .select('wait_reason')
    .where('entity_name', '=', 'sam');
  expect(await key.executeTakeFirstOrThrow()).toEqual({ wait_reason: null });
  return (await living('sam')).filter(
    ({ registered_at: at, pod_uid: uid }) => at !== null && uid !== null,
  ).length;
}

describe('an entity whose runners fail on purpose delays no other entity (C11)', () => {
  test('jobs that end their own runner before in_progress is stored; the late word takes the failures back', async () => {
    const runs = await startThree();
    await endAll(runs.keys());
    await world.holdPauses();
    expect(await serveOthers()).toBe(5);
    for (let n = 0; n < 3; n += 1) await world.queueJob();
    await world.match();
    await world.runTasks();
    expect((await living('acme')).map(({ registered_at: at }) => at)).toEqual([null]);

    for (const [name, jobId] of runs) await hearInProgress(jobId, name);
    expect(await world.db.selectFrom('breakers').selectAll().execute()).toEqual([]);
    await world.match();
    await world.runTasks();
    expect((await living('acme')).filter(({ registered_at: at }) => at !== null)).toHaveLength(3);
  });

  test('an administrator who deletes registrations as they come', async () => {
    const names = [...(await startThree()).keys()];
    const client = world.github.asInstallation({
      appId: APP_ID,
      installationId: world.installationId,
      entityId: world.entityId,
    });
    const acme = { kind: 'organization', owner: 'acme' } as const;
    for (const name of names) {
      const runner = await findRunner(client, acme, name);
      await deleteRunner(client, acme, runner?.id ?? 0);
    }
    // A runner whose end GitHub does not see.
    await endAll(names);
    expect(await serveOthers()).toBe(5);
  });

  test.each([400, 422])(
    'registrations that GitHub answers with %i for how the entity is set up',
    async (status) => {
      await world.putPools(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));
      await world.gitHub.failNext({
        path: '^/orgs/acme/actions/runners/generate-jitconfig$',
        status,
        times: 100,
      });
      for (let n = 0; n < 3; n += 1) await world.queueJob();
      await world.match();
      for (let n = 0; n < 3; n += 1) {
        await world.runTasks();
        await world.makeDue();
      }
      const breakers = await world.db
        .selectFrom('breakers')
        .select(['subject_type', 'subject_id', 'pauses'])
        .execute();
      expect(breakers).toEqual([
        { subject_type: 'pool', subject_id: `linux@${world.entityId}`, pauses: 1 },
      ]);
      expect(await serveOthers()).toBe(5);
      // Nor is the entity held back without such refusals.
      await world.gitHub.clearCallFaults();
      await world.queueJob({ row: { job_labels: '["gpu"]', k8s_pool: 'gpu' } });
      await world.match();
      await world.runTasks();
      expect(
        (await living('acme')).filter(
          (worker) => worker.k8s_pool === 'gpu' && worker.registered_at !== null,
        ),
      ).toHaveLength(1);
    },
  );
});
