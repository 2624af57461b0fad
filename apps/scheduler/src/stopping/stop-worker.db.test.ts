import { describe, expect, test } from '@jest/globals';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { putJob } from '@paddock/testing/demand-rows';
import { schedulerKinds } from '../kinds.ts';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);

const ON_IT = { status: 'running', stopping_at: null, registration_gone_at: null };
const KEPT = { ...ON_IT, stop_reason: null, assigned_at: expect.any(Date) };
const IDLE = { state: 'idle' };
const lie = (busyLies = true) => world.gitHub.setRunnerFaults({ busyLies });
const loseLogs = () => world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
/** GitHub's lists of runners are empty from now on. */
const loseList = () =>
  world.gitHub.failNext({
    method: 'GET',
    path: '/actions/runners$',
    status: 200,
    body: { total_count: 0, runners: [] },
    times: 1_000,
  });

/** A busy worker that GitHub calls idle and whose stop was asked for. */
async function stoppedBusy() {
  const busy = await scene.busyWorker();
  await lie();
  await scene.askToStop(busy.podName);
  return busy;
}

/** GitHub tells the truth again, and the runner works. */
async function expectWorking({ podName, jobId }: { podName: string; jobId: number }) {
  await lie(false);
  await scene.expectWorking(podName, jobId);
}

test('an idle worker is called idle twice, then deregistered, and ends; its registration, its Secret and its pod’s work are gone (E5)', async () => {
  const podName = await scene.idleWorker();
  await scene.askToStop(podName, 'surplus');
  await world.runTasks();
  expect(await scene.row(podName)).toMatchObject({ idle_since: expect.any(Date) });
  expect(await scene.runner(podName)).toMatchObject(IDLE);

  await scene.letTimePass();
  await world.runTasks();
  expect(await scene.row(podName)).toMatchObject({ registration_gone_at: expect.any(Date) });
  expect(await scene.runner(podName)).toBeUndefined();

  expect(await scene.finish(podName)).toMatchObject({
    stop_reason: 'surplus',
    failure_info: { version: 1 },
    unexplained_until: null,
    stop_held_by: null,
  });
  await world.runTasks();
  expect(world.kube.report().secretsLeft).not.toContain(`runners/${podName}`);
});

/**
 * Stops a worker whose log cannot be read, and that GitHub calls idle. Five runs wait, newer than its
 * own, of which one attempt may ask for two. Returns what held the stop up.
 */
async function stopUnread(podName: string): Promise<(string | null)[]> {
  for (const nth of [1, 2, 3, 4, 5])
    await putJob(world.db, { entity_id: world.entityId, run_id: 9_000_000_000_000 + nth });
  await lie();
  loseLogs();
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
  return held;
}

test('a backlog of runs delays the end of an idle worker whose log cannot be read, and does not forbid it (P6)', async () => {
  const podName = await scene.idleWorker();
  expect(await stopUnread(podName)).toContainEqual(expect.stringContaining('more runs'));
  expect(await scene.finish(podName)).toMatchObject({ stop_reason: 'idle', stop_held_by: null });
});

describe('a working runner is never stopped (P2)', () => {
  test('that GitHub calls busy: it is assigned, job unknown (C3)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    expect(await scene.stop(podName)).toMatchObject({ ...KEPT, assigned_job_id: null });
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub calls idle: its job is found at GitHub, bound, and looked up (E5)', async () => {
    const busy = await stoppedBusy();
    const bound = { ...KEPT, assigned_job_id: busy.jobId };
    expect(await scene.letEnd(busy.podName)).toMatchObject(bound);
    const jobs = world.db.selectFrom('jobs').select('lookup_due_at');
    const job = await jobs.where('job_id', '=', busy.jobId).executeTakeFirstOrThrow();
    expect(job.lookup_due_at).not.toBeNull();
    await expectWorking(busy);
  });

  test('that GitHub calls idle, with an unknown job: its log shows it, and while it cannot be read the row says so (E5)', async () => {
    const busy = await stoppedBusy();
    await world.db.deleteFrom('jobs').execute();
    loseLogs();
    expect(await scene.letEnd(busy.podName, { attempts: 5 })).toMatchObject({
      stop_held_by: expect.stringContaining('log cannot be read'),
      stop_held_since: expect.any(Date),
    });
    world.kube.clearFaults();
    const unknown = { assigned_job_id: null, stop_held_by: null };
    expect(await scene.letEnd(busy.podName)).toMatchObject({ ...KEPT, ...unknown });
    await expectWorking(busy);
  });

  test.each(['former/api', 'acme/former'])(
    'whose log cannot be read, and whose job came from what was called %s: it is found by the id (A12)',
    async (repo_full_name) => {
      const busy = await stoppedBusy();
      await world.db.updateTable('jobs').set({ repo_full_name }).execute();
      loseLogs();
      const found = { ...KEPT, assigned_job_id: busy.jobId };
      expect(await scene.letEnd(busy.podName)).toMatchObject(found);
      await expectWorking(busy);
    },
  );

  test('whose log cannot be read, while its job is of an older run than one attempt may ask for: it is found by a later attempt (E5)', async () => {
    const busy = await scene.busyWorker();
    const held = await stopUnread(busy.podName);
    expect(await scene.row(busy.podName)).toMatchObject({ ...KEPT, assigned_job_id: busy.jobId });
    expect(held).toContainEqual(expect.stringContaining('more runs'));
    await expectWorking(busy);
  });

  test('that GitHub refuses to remove: it is assigned (422)', async () => {
    const podName = await scene.idleWorker();
    await world.gitHub.failNext({ method: 'DELETE', path: '/actions/runners/', status: 422 });
    const kept = { ...KEPT, deregistration_started_at: null };
    expect(await scene.stop(podName)).toMatchObject(kept);
    expect(await scene.runner(podName)).toMatchObject(IDLE);
  });

  test('that GitHub’s list lacks: GitHub is asked for it by its id, and gives it no job once its pod may go', async () => {
    const podName = await scene.idleWorker();
    await loseList();
    await scene.askToStop(podName, 'surplus');
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ registration_gone_at: null });
    await scene.letTimePass();
    await world.runTasks();
    expect(await scene.runner(podName)).toBeUndefined();
  });

  test('that was adopted, and that a later list lacks: the first reading has its id (E6)', async () => {
    const podName = await scene.idleWorker();
    await world.db.updateTable('workers').set({ runner_id: null }).execute();
    await scene.askToStop(podName, 'surplus');
    await world.runTasks();
    await loseList();
    await scene.letTimePass();
    await world.runTasks();
    expect(await scene.runner(podName)).toBeUndefined();
  });

  test('whose entity refuses us: it stays, and the refusal is recorded (C9)', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.gitHub.failNext({ path: '/actions/runners', status: 403, times: 1_000 });
    await scene.askToStop(podName);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ stop_held_by: expect.any(String) });
    const events = world.db.selectFrom('installation_events').select(['event', 'source']);
    expect(await events.execute()).toEqual([
      { event: 'auth_attempt.other_error', source: 'scheduler' },
    ]);
    // For a while no worker of the entity asks again.
    const { calls } = await world.gitHub.report();
    await world.makeDue();
    await world.runTasks();
    expect((await world.gitHub.report()).calls).toEqual(calls);
    await scene.expectWorking(podName, jobId);
  });

  test('that GitHub has asked to wait for: it waits without an attempt, and no refusal is recorded (D4)', async () => {
    const podName = await scene.idleWorker();
    const headers = { 'retry-after': '600' };
    await world.gitHub.failNext({ path: '/actions/runners', status: 429, headers });
    await scene.askToStop(podName);
    for (let turn = 0; turn < 3; turn += 1) {
      await world.runTasks();
      await world.makeDue();
    }
    expect(await world.db.selectFrom('tasks').select(['kind', 'attempt']).execute()).toEqual([
      { kind: 'stop-worker', attempt: 0 },
    ]);
    expect((await world.gitHub.report()).callsAgainstWait).toBe(0);
    expect(await world.db.selectFrom('installation_events').select('event').execute()).toEqual([]);
    await world.endWaits();
    expect(await scene.letEnd(podName)).toMatchObject({ status: 'failed' });
  });
});

test('a stop that the cluster puts off by no time is not tried again at once', async () => {
  const podName = await scene.idleWorker();
  world.kube.failNext({ path: '/pods/', status: 429, retryAfterSeconds: 0 });
  await scene.askToStop(podName, 'surplus');
  await world.runTasks();
  expect(await scene.row(podName)).toMatchObject({ stop_held_by: expect.stringContaining('429') });
});

/** As the deliveries of a job leave it. */
async function bind(podName: string, jobId: number, status: 'running' | 'completed') {
  await scene.set(podName, { assigned_job_id: jobId, assigned_at: new Date() });
  const known = { status, wants_worker: false, k8s_pod: podName, runner_name: podName };
  await world.db.updateTable('jobs').set(known).where('job_id', '=', jobId).execute();
}

describe('a worker that has had its job and lives on (E5)', () => {
  test('beside a container that a webhook has added, with a job whose end is unknown: it waits for that, and its row says that the runner has ended', async () => {
    const annotations = { 'test.paddock/inject': 'proxy' };
    await world.putPools({ pools: [{ template: { metadata: { annotations } } }] });
    const { name } = await scene.makePod(({ runner }) => runner.state === 'terminated');
    await scene.follow();
    const jobId = (await scene.row(name)).made_for_job_id ?? 0;
    await bind(name, jobId, 'running');
    await scene.askToStop(name, 'over');
    // By the runner's end the job is in doubt.
    const waits = { stopping_at: null, runner_ended_at: expect.any(Date) };
    expect(await scene.row(name)).toMatchObject(waits);
  });

  test('that GitHub called busy once and idle ever since, and whose log shows that it waits: it is deregistered, and ends', async () => {
    const podName = await scene.idleWorker();
    await scene.set(podName, { assigned_at: new Date() });
    await scene.askToStop(podName, 'over');
    const ended = { stop_reason: 'over', stop_held_by: null };
    expect(await scene.finish(podName)).toMatchObject(ended);
    expect(await scene.runner(podName)).toBeUndefined();
  });
});

describe('a working runner is never stopped as one that has had its job (P2)', () => {
  test('whose job has not ended: it is not even asked for', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await bind(podName, jobId, 'running');
    await scene.askToStop(podName, 'over');
    expect(await scene.row(podName)).toMatchObject({ stopping_at: null });
  });

  test.each([false, true])(
    'whose job is unknown, or which has another that is over, and `busy` lies: %s',
    async (busyLies) => {
      const busy = await scene.busyWorker();
      await bind(busy.podName, await world.queueJob(), 'completed');
      await world.db.deleteFrom('jobs').where('job_id', '=', busy.jobId).execute();
      await lie(busyLies);
      await scene.askToStop(busy.podName, 'over');
      expect(await scene.row(busy.podName)).toMatchObject({ stopping_at: expect.any(Date) });
      const kept = { ...ON_IT, deregistration_started_at: null };
      expect(await scene.letEnd(busy.podName)).toMatchObject(kept);
      await expectWorking(busy);
    },
  );

  test.each(['idle', 'over'] as const)(
    'whose job becomes known while it is stopped as %s',
    async (reason) => {
      const busy = await scene.busyWorker();
      await lie();
      if (reason === 'over') await scene.set(busy.podName, { assigned_at: new Date() });
      await scene.askToStop(busy.podName, reason);
      await world.runTasks();
      await bind(busy.podName, busy.jobId, 'running');
      await scene.letTimePass();
      await world.runTasks();
      expect(await scene.row(busy.podName)).toMatchObject(ON_IT);
      await expectWorking(busy);
    },
  );
});

const NO_NAME =
  '2026-03-02 08:00:11Z: Runner connect error: Name or service not known (api.github.com:443). Retrying until reconnected.';

describe('a runner that GitHub never saw leaves its trace before its pod goes (P5)', () => {
  test.each(['not_registered', 'registration_gone'] as const)(
    'stopped as %s: log, events, states, and the cause in a sentence',
    async (reason) => {
      const podName = await scene.silentWorker("Current runner version: '2.336.0'", NO_NAME);
      await scene.follow();
      await scene.askToStop(podName, reason);
      expect(await scene.finish(podName)).toMatchObject({
        status: 'failed',
        stop_reason: reason,
        failure_info: {
          version: 2,
          reason,
          message: expect.stringContaining('a name that cannot be resolved'),
          pod: { phase: 'Running', node: 'sim-node' },
          containers: [{ name: 'runner', log: expect.stringContaining(NO_NAME) }],
          events: expect.arrayContaining([expect.objectContaining({ reason: 'Started' })]),
        },
      });
    },
  );

  test('kept after all, it loses the diagnosis', async () => {
    const podName = await scene.silentWorker(NO_NAME);
    await scene.follow();
    const examined = await scene.stop(podName, 'not_registered', { attempts: 2 });
    expect(examined).toMatchObject({ failure_info: { version: 2 } });
    await scene.set(podName, { assigned_at: new Date() });
    expect(await scene.letEnd(podName)).toMatchObject({ stopping_at: null, failure_info: null });
  });
});
