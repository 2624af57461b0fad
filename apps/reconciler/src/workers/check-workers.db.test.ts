import { describe, expect, test } from '@jest/globals';
import { minutesAgo, putJob, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { putPending, useCheckScene } from '../scenes/check-workers.scene.ts';

const scene = useCheckScene(useTestDatabase());

const NOTHING = { overdue: 0, stopping: 0, busy: 0, unread: 0, forgotten: 0, heldUp: 0 };
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const reason = async (podName: string) => (await scene.row(podName)).stop_reason;

/** It was assigned `minutes` ago. Its job, if it is known, ended `ended` minutes ago. */
const putAssigned = async (
  minutes: number,
  runner: 'online' | 'registered' | 'none',
  { status, ended = 0 }: { status?: 'running' | 'completed'; ended?: number } = {},
) => {
  const since = { assigned_at: minutesAgo(minutes), online_seen_at: minutesAgo(minutes) };
  const podName = await scene.putRunning(minutes, runner, since);
  if (status === undefined) return podName;
  const { job_id } = await putJob(scene.db, {
    entity_id: scene.world.organization.id,
    status,
    wants_worker: false,
    ...(status === 'completed' && { completed_at: ago(ended) }),
  });
  await scene.set({ assigned_job_id: job_id }, podName);
  return podName;
};
const seen = { online_seen_at: minutesAgo(8) };
const unfinished = {
  created_at: minutesAgo(600),
  registration_started_at: minutesAgo(600),
  registered_at: minutesAgo(600),
};

/** Workers, and for what each is stopped by one pass. */
const WORKERS: Readonly<Record<string, [() => Promise<string>, string | null]>> = {
  'its pod has not started for 16 minutes': [() => putPending(scene.db, 16), 'pending_timeout'],
  'its pod has not started for 14 minutes': [() => putPending(scene.db, 14), null],
  'its provisioning is unfinished': [
    async () => (await putWorker(scene.db, unfinished)).pod_name,
    null,
  ],
  'never online for 6 minutes': [() => scene.putRunning(6, 'registered'), 'not_registered'],
  'unknown to GitHub for 6 minutes': [() => scene.putRunning(6, 'none'), 'not_registered'],
  'never online for 4 minutes': [() => scene.putRunning(4, 'registered'), null],
  'idle for 11 minutes': [() => scene.putRunning(11), 'idle'],
  'gone from GitHub': [() => scene.putRunning(11, 'none', seen), 'registration_gone'],
  'offline for a moment': [() => scene.putRunning(11, 'registered', seen), null],
  'offline for 11 minutes': [
    () => scene.putRunning(11, 'registered', { ...seen, offline_since: minutesAgo(11) }),
    'offline',
  ],
  'there 11 minutes after its job': [
    () => putAssigned(60, 'none', { status: 'completed', ended: 11 }),
    'over',
  ],
  'there 9 minutes after its job': [
    () => putAssigned(60, 'none', { status: 'completed', ended: 9 }),
    null,
  ],
  'busy once and idle now, with an unknown job': [() => putAssigned(11, 'online'), 'over'],
};

test('workers are stopped after their deadlines, not before, by one list of their scope (E5, E6, P4)', async () => {
  const names: Record<string, string> = {};
  for (const [what, [put]] of Object.entries(WORKERS)) names[what] = await put();
  const before = await scene.listCalls();
  expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 9, stopping: 8 });
  expect(await scene.listCalls()).toBe(before + 1);
  for (const [what, [, expected]] of Object.entries(WORKERS))
    expect([what, await reason(names[what] ?? '')]).toEqual([what, expected]);
});

/** A job that the next runner takes, and that goes on until it is ended. */
const queueLong = () =>
  scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 600_000 });
const endLong = async ({ id }: { id: number }, podName: string) => {
  await scene.world.github.cancelJob(id);
  await waitFor('the runner to leave', async () => (await scene.truth(podName)) === undefined);
};

describe('an idle runner', () => {
  test('is stopped where no job of its key waits; one with such a job is another matter: GitHub does not assign it (C11)', async () => {
    const podName = await scene.putRunning(11, 'online', { delivery_guid: ' of its job' });
    expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
    expect(await scene.tasks()).toEqual([`stop-worker ${podName} of its job`]);
    expect(await scene.sweep()).toEqual(NOTHING);
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
    await endLong(job, podName);
  });
});

describe('a worker that has its job', () => {
  test('is left alone until that has ended, without a question to GitHub, even if its runner looks idle', async () => {
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
    for (const [checked, busy] of [
      [null, 1],
      [9, 0],
      [11, 1],
    ] as const) {
      if (checked !== null) await scene.set({ runner_checked_at: ago(checked) });
      expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: busy, busy });
    }
    expect(await reason(podName)).toBeNull();
    await endLong(job, podName);
  });
});

test('no worker is read that is not due: not the assigned, the stopping, the ended, the warm; GitHub is not asked about one whose pod waits (C10, P4)', async () => {
  const now = new Date();
  await scene.putRunning(60, 'none', { assigned_at: now });
  await scene.putRunning(60, 'none', { stopping_at: now, stop_reason: 'idle' });
  await scene.putRunning(60, 'none', { status: 'completed', completed_at: now });
  await scene.putRunning(60, 'none', { is_warm: true, online_seen_at: minutesAgo(50) });
  expect(await scene.sweep()).toEqual(NOTHING);
  const podName = await putPending(scene.db, 16);
  expect(await scene.sweep()).toEqual({ ...NOTHING, overdue: 1, stopping: 1 });
  expect(await scene.tasks()).toEqual(['look-up-jobs look-up-jobs', `stop-worker ${podName}`]);
  expect(await scene.listCalls()).toBe(0);
});

test('a stop without a task gets one; one held up for long is reported to people, with its obstacle', async () => {
  const stopping = { stopping_at: minutesAgo(3), stop_reason: 'pod_gone' } as const;
  const ofJob = { ...stopping, delivery_guid: ' of its job' };
  const podName = await scene.putRunning(60, 'none', ofJob);
  expect(await scene.sweep()).toEqual({ ...NOTHING, forgotten: 1 });
  expect(await scene.tasks()).toEqual([`stop-worker ${podName} of its job`]);
  const stop_held_by = 'its log cannot be read';
  await scene.set({ stop_held_by, stop_held_since: ago(61) });
  expect(await scene.sweep()).toEqual({ ...NOTHING, heldUp: 1 });
  expect(scene.told('stopsHeldUp')).toMatchObject([[[{ heldBy: stop_held_by }]]]);
});
