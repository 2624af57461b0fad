import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeList } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });

const list = async () =>
  (await listPods(world.cluster, { namespace: 'runners', instance: await findInstance(world.db) }))
    .pods;
const take = async (pods: readonly ObservedPod[]) =>
  takeList({ ...world.parts, ...FOLLOWING }, 'runners', pods, []);

async function startWorkers(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await world.queueJob();
  await world.match();
  await world.runTasks();
  await waitFor(
    'the pods to run',
    async () => (await list()).filter(({ phase }) => phase === 'Running').length === count,
  );
  await take(await list());
}

async function drain(): Promise<void> {
  for (const { name } of await list())
    world.kube.endPod({ namespace: 'runners', name, end: 'drained' });
  await waitFor('the pods to end', async () =>
    (await list()).every(({ phase }) => phase === 'Succeeded'),
  );
}

const kinds = async () =>
  (await world.db.selectFrom('tasks').select('kind').orderBy('kind').execute()).map(
    ({ kind }) => kind,
  );

describe('a runner that others end (C3, C11)', () => {
  test('drained with its node, and no job of its is known: evicted, and another is made once GitHub has said that it had none', async () => {
    await startWorkers(3);
    await drain();
    await take(await list());
    const message = expect.stringContaining('EvictionByEvictionAPI');
    const evicted = {
      status: 'failed',
      stop_reason: 'evicted',
      failure_info: { version: 1, message },
    };
    expect(await world.workers()).toMatchObject([evicted, evicted, evicted]);
    expect(await world.failing()).toEqual([]);
    // It may have done its job, and the delivery about that may be lost.
    expect(await kinds()).toContain('look-up-jobs');
    await world.match();
    expect((await world.workers()).filter(({ status }) => status === 'pending')).toEqual([]);
    await world.db.updateTable('workers').set({ unexplained_until: null }).execute();
    await world.match();
    expect((await world.workers()).filter(({ status }) => status === 'pending')).toHaveLength(3);
    await world.runTasks();
    expect(await world.workers()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          failure_info: expect.objectContaining({ version: 2, reason: 'evicted', message }),
        }),
      ]),
    );
  });

  test('drained after a job was given to it: it has ended its job', async () => {
    await startWorkers(1);
    await world.db.updateTable('workers').set({ assigned_at: new Date() }).execute();
    await drain();
    await take(await list());
    expect(await world.workers()).toMatchObject([
      { status: 'completed', stop_reason: null, failure_info: null },
    ]);
  });

  test('drained while we were stopping it: the end is ours', async () => {
    await startWorkers(1);
    const ours = {
      stopping_at: new Date(),
      stop_reason: 'idle',
      deregistration_started_at: new Date(),
    };
    await world.db.updateTable('workers').set(ours).execute();
    await drain();
    await take(await list());
    expect(await world.workers()).toMatchObject([{ status: 'failed', stop_reason: 'idle' }]);
  });

  test.each([
    ['ends well: it may have had a job', { phase: 'Succeeded', exitCode: 0 }, expect.any(Date)],
    ['is killed in the end', { phase: 'Failed', exitCode: 143 }, null],
  ] as const)(
    'whose pod a person deletes, and that %s',
    async (_how, { phase, exitCode }, unexplained) => {
      await startWorkers(1);
      const runner = { name: 'runner', state: 'terminated', exitCode } as const;
      const ended = {
        phase,
        containersTerminated: true,
        runner,
        containers: [runner],
        deletionTimestamp: new Date(),
      };
      await take((await list()).map((pod): ObservedPod => Object.assign({}, pod, ended)));
      expect(await world.workers()).toMatchObject([
        { status: 'failed', stop_reason: 'pod_deleted', unexplained_until: unexplained },
      ]);
      expect(await world.failing()).toEqual([]);
    },
  );
});
