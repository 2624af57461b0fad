import { afterEach, describe, expect, test } from '@jest/globals';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { schedulerKinds } from '../kinds.ts';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);
afterEach(() => scene.cancelAll());

const KEPT = {
  status: 'running',
  stopping_at: null,
  stop_reason: null,
  assigned_at: expect.any(Date),
};

describe('an idle worker', () => {
  test('is called idle twice, then deregistered, and ends; its registration, its Secret and its pod’s work are gone (E5)', async () => {
    const podName = await scene.idleWorker();
    await scene.askToStop(podName, 'surplus');
    await world.runTasks();
    expect((await scene.row(podName)).idle_since).not.toBeNull();
    expect((await scene.runner(podName))?.state).toBe('idle');

    await scene.letTimePass();
    await world.runTasks();
    expect((await scene.row(podName)).registration_gone_at).not.toBeNull();
    expect(await scene.runner(podName)).toBeUndefined();

    await waitFor('its row to end', async () => {
      await scene.letEnd(podName);
      return (await scene.row(podName)).completed_at !== null;
    });
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({
      stop_reason: 'surplus',
      unexplained_until: null,
      stop_held_by: null,
    });
    expect(world.kube.report().secretsLeft).not.toContain(`runners/${podName}`);
  });
});

/**
 * Stops a worker whose log cannot be read, and that GitHub calls idle. Five runs wait, newer than its
 * own, of which one attempt may ask for two. Returns what held the stop up.
 */
async function stopUnread(podName: string): Promise<{ held: (string | null)[] }> {
  for (const nth of [1, 2, 3, 4, 5])
    await putJob(world.db, { entity_id: world.entityId, run_id: 9_000_000_000_000 + nth });
  await world.gitHub.setRunnerFaults({ busyLies: true });
  world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
  await scene.askToStop(podName);
  const kinds = schedulerKinds({ ...world.parts, maxRuns: 2 });
  const held: (string | null)[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await runDueTasks({ db: world.db, kinds, random: () => 0.5 });
    await scene.follow();
    const { completed_at, stopping_at, stop_held_by } = await scene.row(podName);
    if (completed_at !== null || stopping_at === null) break;
    held.push(stop_held_by);
    await scene.letTimePass(5);
  }
  return { held };
}

test('a backlog of runs delays the end of an idle worker whose log cannot be read, and does not forbid it (P6)', async () => {
  const podName = await scene.idleWorker();
  const { held } = await stopUnread(podName);
  expect(held).toContainEqual(expect.stringContaining('more runs'));
  await waitFor('its row to end', async () => {
    await scene.letEnd(podName);
    return (await scene.row(podName)).completed_at !== null;
  });
  expect(await scene.row(podName)).toMatchObject({ stop_reason: 'idle', stop_held_by: null });
});

describe('a working runner is never stopped (P2)', () => {
  test('with a bound job causes no call', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await scene.askToStop(podName);
    await world.db
      .updateTable('workers')
      .set({ assigned_at: new Date(), assigned_job_id: jobId })
      .execute();
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject(KEPT);
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub calls busy: it is assigned, job unknown (C3)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await scene.askToStop(podName);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, assigned_job_id: null });
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub calls idle: its job is found at GitHub, bound, and looked up (E5)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.gitHub.setRunnerFaults({ busyLies: true });
    await scene.askToStop(podName);
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, assigned_job_id: jobId });
    const job = await world.db
      .selectFrom('jobs')
      .selectAll()
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    expect(job.lookup_due_at).not.toBeNull();
    await world.gitHub.setRunnerFaults({ busyLies: false });
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub calls idle, with an unknown job: its log shows it (E5)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.db.deleteFrom('jobs').execute();
    await world.gitHub.setRunnerFaults({ busyLies: true });
    await scene.askToStop(podName);
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, assigned_job_id: null });
    await scene.expectWorking(podName, jobId);
  });

  test('whose log cannot be read: it stays, the row says why, and once the log can be read it is decided', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.db.deleteFrom('jobs').execute();
    await world.gitHub.setRunnerFaults({ busyLies: true });
    world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
    await scene.askToStop(podName);
    await scene.letEnd(podName, { attempts: 5 });
    const held = await scene.row(podName);
    expect(held).toMatchObject({
      stop_held_by: expect.stringContaining('log cannot be read'),
      stop_held_since: expect.any(Date),
    });
    await scene.expectWorking(podName, jobId);

    world.kube.clearFaults();
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, stop_held_by: null });
    await scene.expectWorking(podName, jobId);
  });

  test('whose log cannot be read, while its job is of an older run than one attempt may ask for: it is found by a later attempt (E5)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    const { held } = await stopUnread(podName);
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, assigned_job_id: jobId });
    expect(held).toContainEqual(expect.stringContaining('more runs'));
    await world.gitHub.setRunnerFaults({ busyLies: false });
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub refuses to remove: it is assigned (422)', async () => {
    const podName = await scene.idleWorker();
    await world.gitHub.failNext({ method: 'DELETE', path: '/actions/runners/', status: 422 });
    await scene.askToStop(podName);
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ ...KEPT, deregistration_started_at: null });
    expect((await scene.runner(podName))?.state).toBe('idle');
  });

  test('whose entity refuses us: it stays, and the refusal is recorded (C9)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.gitHub.failNext({ path: '/actions/runners', status: 403, times: 1_000 });
    await scene.askToStop(podName);
    await world.runTasks();
    expect((await scene.row(podName)).stop_held_by).toEqual(expect.any(String));
    const events = await world.db
      .selectFrom('installation_events')
      .select(['event', 'source'])
      .execute();
    expect(events).toEqual([{ event: 'auth_attempt.other_error', source: 'scheduler' }]);
    // For a while no worker of the entity asks again.
    const { calls } = await world.gitHub.report();
    await world.makeDue();
    await world.runTasks();
    expect((await world.gitHub.report()).calls).toEqual(calls);
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub has asked to wait for: it waits without an attempt, and no refusal is recorded (D4)', async () => {
    const podName = await scene.idleWorker();
    await world.gitHub.failNext({
      path: '/actions/runners',
      status: 429,
      headers: { 'retry-after': '600' },
    });
    await scene.askToStop(podName);
    for (let turn = 0; turn < 3; turn += 1) {
      await world.runTasks();
      await world.makeDue();
    }
    const task = await world.db
      .selectFrom('tasks')
      .select('attempt')
      .where('kind', '=', 'stop-worker')
      .executeTakeFirstOrThrow();
    expect([task, (await world.gitHub.report()).callsAgainstWait]).toEqual([{ attempt: 0 }, 0]);
    expect(await world.db.selectFrom('installation_events').select('event').execute()).toEqual([]);
    await world.endWaits();
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ status: 'failed' });
  });
});
