import { describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo } from '@paddock/testing/demand-rows';
import { putPending, useCheckScene } from '../scenes/check-workers.scene.ts';
import { putFailedLong } from '../scenes/sweep.scene.ts';

const scene = useCheckScene(useTestDatabase());

const stopping = () =>
  scene.db.selectFrom('workers').select('pod_name').where('stopping_at', 'is not', null).execute();
const stopTasks = async () =>
  (await scene.tasks()).filter((task) => task.startsWith('stop-worker'));
const LIST = '/actions/runners$';

/** An idle worker of the user's repository. */
const putOfUser = () =>
  scene.putRunning(11, 'registered', {
    entity_type: 'User',
    scope_repo_id: scene.world.repositories.tool,
  });

describe('check-workers does nothing (E6)', () => {
  test.each([500, 403, 404, 429])(
    'where the list of runners failed with %s; other scopes go on',
    async (status) => {
      await scene.putRunning(11, 'registered');
      await scene.putRunning(11, 'registered');
      const other = await putOfUser();
      await scene.world.github.failNext({ path: `/orgs/acme${LIST}`, status, times: 10 });
      expect(await scene.sweep()).toMatchObject({ overdue: 3, stopping: 1, unread: 1 });
      expect(await stopping()).toEqual([{ pod_name: other }]);
    },
  );

  test('for one without an id when such lists have come for long; the others are asked about by their ids', async () => {
    const silent = await scene.putRunning(11, 'registered');
    const gone = await scene.putRunning(11, 'none', { online_seen_at: minutesAgo(9) });
    await scene.putRunning(11, 'none', { online_seen_at: minutesAgo(9) });
    const ids = { [silent]: (await scene.truth(silent))?.id ?? null, [gone]: 999_999 };
    for (const [podName, runner_id] of Object.entries(ids)) await scene.set({ runner_id }, podName);
    const empty = { path: `/orgs/acme${LIST}`, status: 200, body: { total_count: 0, runners: [] } };
    await scene.world.github.failNext({ ...empty, times: 2 });
    expect(await scene.sweep()).toMatchObject({ overdue: 3, stopping: 0, unread: 1 });
    const schedule = await putFailedLong(scene.db, scene.world.organization.id);
    expect(await scene.sweep({ pass: { schedule } })).toMatchObject({ stopping: 2, unread: 0 });
    expect((await scene.row(silent)).stop_reason).toBe('not_registered');
    expect((await scene.row(gone)).stop_reason).toBe('registration_gone');
  });

  test('when one that is asked for by its name is missing, and so are all other registered ones', async () => {
    await scene.putRunning(11, 'none', { online_seen_at: minutesAgo(9) });
    await scene.putRunning(1, 'none');
    expect(await scene.sweep()).toMatchObject({ overdue: 1, stopping: 0, unread: 1 });
    expect(scene.told('runnersMissing')).toEqual([['acme', 2]]);
  });

  test.each([
    ['cap of stops', { stopsOfPass: 2 }, 6],
    ['limit of workers', { overdueOfPass: 2 }, 2],
  ])(
    'beyond its %s: scopes take turns, so that one with many delays no other scope (P6)',
    async (_what, config, overdue) => {
      for (let n = 0; n < 5; n += 1) await scene.putRunning(20, 'registered');
      const other = await putOfUser();
      expect(await scene.sweep({ config })).toMatchObject({ overdue, stopping: 2 });
      expect(await stopping()).toContainEqual({ pod_name: other });
    },
  );

  test('in a dry run but counting: it writes nothing, and only reads GitHub', async () => {
    await scene.putRunning(11, 'registered');
    await scene.putRunning(60, 'none', { stopping_at: minutesAgo(3), stop_reason: 'pod_gone' });
    await putOfUser();
    await scene.world.github.failNext({ path: `/orgs/acme${LIST}`, status: 403 });
    const rows = () => scene.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();
    const before = await rows();
    const counts = { overdue: 2, stopping: 1, busy: 0, unread: 1, forgotten: 1, heldUp: 0 };
    expect(await scene.sweep({ dryRun: true })).toEqual(counts);
    expect(await rows()).toEqual(before);
    expect(await scene.tasks()).toEqual([]);
    expect(await scene.db.selectFrom('installation_events').selectAll().execute()).toEqual([]);
  });
});

/** Something to do that takes no answer from GitHub: a pod that waits, and a stop without a task. */
const putOthers = async () => {
  await putPending(scene.db, 59);
  await scene.putRunning(60, 'none', { stopping_at: minutesAgo(30), stop_reason: 'pod_gone' });
};

describe('check-workers goes on with all else (E6)', () => {
  test('beside a worker of an App that is no longer configured', async () => {
    await scene.putRunning(40, 'none', { app_id: 999, installation_id: 5, entity_id: 777 });
    await scene.putRunning(11, 'registered');
    await putOthers();
    expect(await scene.sweep()).toMatchObject({ overdue: 2, stopping: 2, unread: 0, forgotten: 1 });
  });

  test('where GitHub’s answer for one entity is none', async () => {
    const body = { runners: [{ id: 1, name: 'x', status: 'online' }] };
    for (let n = 0; n < 2; n += 1) await scene.putRunning(30, 'registered');
    const other = await putOfUser();
    await putOthers();
    await scene.world.github.failNext({ path: `/orgs/acme${LIST}`, status: 200, body, times: 10 });
    expect(await scene.sweep()).toMatchObject({ overdue: 4, stopping: 2, unread: 1, forgotten: 1 });
    expect(await stopping()).toContainEqual({ pod_name: other });
    expect(scene.told('runnersNotRead')).toEqual([['acme', expect.anything()]]);
  });
});

test.each([0, 1, 2, 3].flatMap((nth) => [{ nth, status: 500 }, { nth }]))(
  'if a call fails, the next pass does it all: %j',
  async ({ nth, ...fault }) => {
    const put = [0, 1].map(() => scene.putRunning(11, 'registered'));
    const names = await Promise.all([...put, putOfUser()]);
    await scene.world.github.failNext({ path: '.', after: nth, ...fault });
    await scene.sweep();
    await scene.world.github.clearFaults();
    await scene.set({ runner_checked_at: null });
    await scene.sweep();
    expect((await stopping()).map((row) => row.pod_name).toSorted()).toEqual(names.toSorted());
    expect(await stopTasks()).toHaveLength(3);
  },
);

test('two replicas at once ask once (C5)', async () => {
  for (let n = 0; n < 4; n += 1) await scene.putRunning(11, 'registered');
  await Promise.all([scene.sweep(), scene.sweep()]);
  expect(await stopping()).toHaveLength(4);
  expect(await stopTasks()).toHaveLength(4);
});
