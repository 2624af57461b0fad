import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { deleteRunner, findRunner } from '@paddock/github/runners';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { takeList } from './following/follow-pods.ts';
import { type Bystanders, besideAttackers, GPU } from './scenes/attackers.scene.ts';
import { NAMESPACE, type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';
import { APP_ID, FOLLOWING } from './scenes/settings.scene.ts';

let world: SchedulerWorld;
let others: Bystanders;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  others = await besideAttackers(world);
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  await world.putPools(GPU);
});

/** Three jobs of acme on runners that are up, by the runners' names. */
async function startThree(): Promise<Map<string, number>> {
  await others.queue(3);
  await others.matchAndRun();
  await others.seeRunning((await others.workersOf('acme')).map((worker) => worker.pod_name));
  return new Map(
    (await others.workersOf('acme')).map((worker) => [
      worker.pod_name,
      worker.made_for_job_id ?? 0,
    ]),
  );
}

/** These runners end with an error, and the follower sees their ends. */
async function endAll(ending: Iterable<string>): Promise<void> {
  const names = new Set(ending);
  for (const name of names)
    world.kube.endPod({ namespace: NAMESPACE, name, end: 'failed', exitCode: 1 });
  const ended = await waitFor('the pods to fail', async () => {
    const list = await others.pods();
    const areAll = list.every(({ name, phase }) => phase === 'Failed' || !names.has(name));
    return areAll ? list : undefined;
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

describe('an entity whose runners fail on purpose delays no other entity (C11, P6)', () => {
  test('jobs that end their own runner before in_progress is stored; the late word takes the failures back', async () => {
    const runs = await startThree();
    await endAll(runs.keys());
    await world.holdPauses();
    expect(await others.serveOthers()).toBe(5);
    await others.queue(3);
    await others.matchAndRun();
    expect(await others.living('acme')).toEqual([]);
    expect(await others.reasonOf('acme')).toBe('workers_failing');

    for (const [name, jobId] of runs) await hearInProgress(jobId, name);
    expect(await world.failing()).toEqual([]);
    await others.matchAndRun();
    expect(await others.servedOf('acme')).toBe(3);
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
    expect(await others.serveOthers()).toBe(5);
  });

  test('for as long as it likes: it gets one runner a time, and others all of theirs', async () => {
    const served: number[] = [];
    const tried: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      await others.queue(3);
      await others.tryAgain();
      const running = (await others.living('acme')).map((worker) => worker.pod_name);
      tried.push(running.length);
      await others.seeRunning(running);
      await endAll(running);
      served.push(await others.serveOthers());
    }
    expect(tried).toEqual([3, 1, 1, 1, 1, 1]);
    expect(served).toEqual([5, 5, 5, 5, 5, 5]);
  });
});

const ELSEWHERE = { location: 'http://localhost:1/stolen' };
/** What GitHub may answer to registrations for how the entity is set up. */
const ANSWERS = [
  { status: 400 },
  { status: 409 },
  { status: 422 },
  { status: 307, headers: ELSEWHERE },
  { status: 200, body: {} },
  { status: 500 },
  { status: 502 },
  { status: 503, afterCommit: true },
  { cut: 'the connection' },
];
/** What GitHub may tell us of the entity instead. */
const TOLD = [
  { status: 401 },
  { status: 403 },
  { status: 404 },
  { status: 403, headers: { 'retry-after': '3600' } },
  { status: 429, headers: { 'retry-after': '3600' } },
];

const refuse = (fault: object) =>
  world.gitHub.failNext({
    path: '^/orgs/acme/actions/runners/generate-jitconfig$',
    times: 1_000_000,
    ...fault,
  });

describe('an entity whose registrations GitHub answers with (P6)', () => {
  test.each([...ANSWERS, ...TOLD])(
    '%j: others are served at once, again and again',
    async (fault) => {
      await refuse(fault);
      const served: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        // The oldest jobs are the attacker's.
        await others.queue(3);
        await others.tryAgain();
        served.push(await others.serveOthers());
      }
      expect(await others.servedOf('acme')).toBe(0);
      expect(served).toEqual([5, 5, 5, 5, 5]);
    },
  );

  test.each(ANSWERS)('%j: its key alone is paused, and its other pool is served', async (fault) => {
    await refuse(fault);
    await others.queue(3);
    for (let n = 0; n < 3; n += 1) await others.matchAndRun();
    expect(await world.failing()).toMatchObject([{ entity: 'acme', pool: 'linux', pauses: 1 }]);
    await world.gitHub.clearCallFaults();
    await world.holdPauses();
    await others.queue(1, 'gpu');
    await others.matchAndRun();
    expect([await others.servedOf('acme', 'gpu'), await others.servedOf('acme')]).toEqual([1, 0]);
  });
});
