import { describe, expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { putPending, useCheckScene } from '../scenes/check-workers.scene.ts';

const scene = useCheckScene(useTestDatabase());

const NOTHING = { overdue: 0, stopping: 0, busy: 0, unread: 0, forgotten: 0, heldUp: 0 };
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const reason = async (podName: string) => (await scene.row(podName)).stop_reason;

describe('a pod that does not start', () => {
  test('is stopped after its deadline, and not before; GitHub is not asked', async () => {
    const young = await putPending(scene.db, 14);
    const old = await putPending(scene.db, 16);
    const before = await scene.listCalls();
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect(await reason(old)).toBe('pending_timeout');
    expect(await reason(young)).toBeNull();
    expect(await scene.tasks()).toEqual(['look-up-jobs look-up-jobs', `stop-worker ${old}`]);
    expect(await scene.listCalls()).toBe(before);
    expect(await scene.sweep()).toEqual(NOTHING);
  });

  test('is none while its provisioning is unfinished (E6)', async () => {
    await putWorker(scene.db, {
      created_at: minutesAgo(600),
      registration_started_at: minutesAgo(600),
      registered_at: minutesAgo(600),
    });
    expect(await scene.sweep()).toEqual(NOTHING);
  });
});

describe('a runner that GitHub has never called online', () => {
  test.each(['registered', 'none'] as const)(
    'is stopped 300 s after its start; %s at GitHub',
    async (runner) => {
      const old = await scene.putRunning(6, runner);
      const young = await scene.putRunning(4, 'registered');
      expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
      expect(await reason(old)).toBe('not_registered');
      expect(await reason(young)).toBeNull();
    },
  );
});

/** A job that the next runner takes, and that goes on. */
const queueLong = () =>
  scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 600_000 });

describe('an idle runner', () => {
  test('is stopped after 600 s where no job of its key waits; one with such a job is another matter: GitHub does not assign it (C11)', async () => {
    const podName = await scene.putRunning(11);
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect(await reason(podName)).toBe('idle');
    expect(await scene.tasks()).toEqual([`stop-worker ${podName}`]);
    const other = await scene.putRunning(11);
    const { id: entity_id } = scene.world.organization;
    await putJob(scene.db, { entity_id, created_at: ago(11) });
    await scene.sweep();
    expect(await reason(other)).toBe('not_assigned');
  });

  test('that is the only one of its scope is stopped although GitHub does not know it: that is no reason for doubt (E5)', async () => {
    const podName = await scene.putRunning(11, 'none', { online_seen_at: minutesAgo(9) });
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect(await reason(podName)).toBe('registration_gone');
  });

  test('that GitHub calls busy becomes assigned, job unknown, and is not asked for again (C3)', async () => {
    const job = await queueLong();
    const podName = await scene.putRunning(11);
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, busy: 1 });
    const assigned = { assigned_at: expect.any(Date), assigned_job_id: null, stopping_at: null };
    expect(await scene.row(podName)).toMatchObject(assigned);
    await scene.set({ runner_checked_at: ago(2) });
    expect(await scene.sweep()).toEqual(NOTHING);
    await scene.world.github.cancelJob(job.id);
    await waitFor('the runner to leave', async () => (await scene.truth(podName)) === undefined);
  });

  test('that was online and is offline is stopped after ten minutes of that', async () => {
    const podName = await scene.putRunning(11, 'registered', { online_seen_at: minutesAgo(8) });
    await scene.sweep();
    expect(await reason(podName)).toBeNull();
    await scene.set({ runner_checked_at: ago(2), offline_since: ago(11) });
    await scene.sweep();
    expect(await reason(podName)).toBe('offline');
  });
});

/** It was assigned `minutes` ago. Its job, if it is known, ended `ended` minutes ago. */
const putAssigned = async (
  minutes: number,
  runner: 'online' | 'registered' | 'none',
  { status, ended = 0 }: { status?: 'running' | 'completed'; ended?: number } = {},
) => {
  const podName = await scene.putRunning(minutes, runner, {
    assigned_at: minutesAgo(minutes),
    online_seen_at: minutesAgo(minutes),
  });
  if (status === undefined) return podName;
  const end = status === 'running' ? {} : { completed_at: ago(ended) };
  const { job_id } = await putJob(scene.db, {
    entity_id: scene.world.organization.id,
    status,
    wants_worker: false,
    ...end,
  });
  await scene.set({ assigned_job_id: job_id }, podName);
  return podName;
};

describe('a worker that has had its job and does not go (E5)', () => {
  test('is stopped an idle time after its job ended', async () => {
    const old = await putAssigned(60, 'none', { status: 'completed', ended: 11 });
    const young = await putAssigned(60, 'none', { status: 'completed', ended: 9 });
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect([await reason(old), await reason(young)]).toEqual(['over', null]);
    expect(await scene.tasks()).toEqual([`stop-worker ${old}`]);
  });

  test('is stopped when GitHub called it busy once and idle now, with an unknown job', async () => {
    const podName = await putAssigned(11, 'online');
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect(await reason(podName)).toBe('over');
  });

  test('is left alone while its job has not ended, without a question to GitHub, even if its runner looks idle', async () => {
    const podName = await putAssigned(600, 'none', { status: 'running' });
    await scene.set({ runner_ended_at: ago(500) });
    const before = await scene.listCalls();
    expect(await scene.sweep()).toEqual(NOTHING);
    expect(await reason(podName)).toBeNull();
    expect(await scene.listCalls()).toBe(before);
  });

  test('causes one call in an idle time while GitHub calls it busy: one job may last for days (P4)', async () => {
    const job = await queueLong();
    const podName = await putAssigned(11, 'online');
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, busy: 1 });
    await scene.set({ runner_checked_at: ago(9) });
    expect(await scene.sweep()).toEqual(NOTHING);
    await scene.set({ runner_checked_at: ago(11) });
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, busy: 1 });
    expect(await reason(podName)).toBeNull();
    await scene.world.github.cancelJob(job.id);
    await waitFor('the runner to leave', async () => (await scene.truth(podName)) === undefined);
  });
});

describe('the cost (P4)', () => {
  test('one list for all due workers of a scope, none for scopes without any', async () => {
    for (let n = 0; n < 5; n += 1) await scene.putRunning(11, 'registered');
    await scene.putRunning(1, 'registered', {
      entity_type: 'User',
      scope_repo_id: scene.world.repositories.tool,
    });
    const before = await scene.listCalls();
    expect(await scene.sweep()).toMatchObject({ overdue: 5, stopping: 5 });
    expect(await scene.listCalls()).toBe(before + 1);
  });

  test('reads no worker that is not due: not the assigned, the stopping, the ended, the warm (C10)', async () => {
    const now = new Date();
    await scene.putRunning(60, 'none', { assigned_at: now });
    await scene.putRunning(60, 'none', { stopping_at: now, stop_reason: 'idle' });
    await scene.putRunning(60, 'none', { status: 'completed', completed_at: now });
    await scene.putRunning(60, 'none', { is_warm: true, online_seen_at: minutesAgo(50) });
    expect(await scene.sweep()).toEqual(NOTHING);
  });
});

describe('stops that do not come about', () => {
  test('one without a task gets one', async () => {
    const podName = await scene.putRunning(60, 'none', {
      stopping_at: minutesAgo(3),
      stop_reason: 'pod_gone',
    });
    expect(await scene.sweep()).toEqual({ ...NOTHING, forgotten: 1 });
    expect(await scene.tasks()).toEqual([`stop-worker ${podName}`]);
    expect(await scene.sweep()).toEqual(NOTHING);
  });

  test('one that was held up for long is reported to people, with its obstacle', async () => {
    await scene.putRunning(60, 'none', {
      stopping_at: new Date(),
      stop_reason: 'idle',
      stop_held_by: 'its log cannot be read',
      stop_held_since: minutesAgo(61),
    });
    expect(await scene.sweep()).toEqual({ ...NOTHING, heldUp: 1 });
    expect(scene.told('stopsHeldUp')).toMatchObject([[[{ heldBy: 'its log cannot be read' }]]]);
  });
});
