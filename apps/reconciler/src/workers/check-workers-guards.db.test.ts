import { describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { QUERY, useCheckScene } from '../scenes/check-workers.scene.ts';
import { putFailedLong } from '../scenes/pass.scene.ts';

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
    for (const [podName, id] of Object.entries(ids))
      await scene.db
        .updateTable('workers')
        .set({ runner_id: id })
        .where('pod_name', '=', podName)
        .execute();
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
    expect(scene.told.join()).toContain('missing');
  });

  test('beyond its cap: scopes take turns, so that one with many delays no other scope (P6)', async () => {
    for (let n = 0; n < 5; n += 1) await scene.putRunning(20, 'registered');
    const other = await putOfUser();
    expect(await scene.sweep({ cap: 2 })).toMatchObject({ overdue: 6, stopping: 2 });
    expect((await stopping()).map((row) => row.pod_name)).toContain(other);
  });

  test('beyond its limit of workers: scopes take turns there too (P6)', async () => {
    for (let n = 0; n < 5; n += 1) await scene.putRunning(20, 'registered');
    const other = await putOfUser();
    expect(await scene.sweep({ query: { ...QUERY, limit: 2 } })).toMatchObject({
      overdue: 2,
      stopping: 2,
    });
    expect((await stopping()).map((row) => row.pod_name)).toContain(other);
  });

  test('in a dry run but counting: it writes nothing, and only reads GitHub', async () => {
    await scene.putRunning(11, 'registered');
    await scene.putRunning(60, 'none', { stopping_at: minutesAgo(3), stop_reason: 'pod_gone' });
    await putOfUser();
    await scene.world.github.failNext({ path: `/orgs/acme${LIST}`, status: 403 });
    const before = await scene.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();
    expect(await scene.sweep({ dryRun: true })).toEqual({
      overdue: 2,
      stopping: 1,
      busy: 0,
      unread: 1,
      forgotten: 1,
      heldUp: 0,
    });
    expect(await scene.db.selectFrom('workers').selectAll().orderBy('pod_name').execute()).toEqual(
      before,
    );
    expect(await scene.tasks()).toEqual([]);
    expect(await scene.db.selectFrom('installation_events').selectAll().execute()).toEqual([]);
  });
});

/**
 * Something to do that takes no answer from GitHub: a pod that does not start, and a stop without a
 * task.
 */
const putOthers = async () => {
  await putWorker(scene.db, {
    created_at: minutesAgo(60),
    pod_created_at: minutesAgo(59),
    pod_uid: 'stuck',
  });
  await scene.putRunning(60, 'none', { stopping_at: minutesAgo(30), stop_reason: 'pod_gone' });
};

describe('check-workers goes on with all else (E6)', () => {
  test('beside a worker of an App that is no longer configured', async () => {
    await scene.putRunning(40, 'none', {
      app_id: 999,
      installation_id: 5,
      entity_id: 777,
      entity_name: 'other',
    });
    await scene.putRunning(11, 'registered');
    await putOthers();
    expect(await scene.sweep()).toMatchObject({ overdue: 2, stopping: 2, unread: 0, forgotten: 1 });
  });

  test.each([
    {},
    [],
    { total_count: 2 },
    { runners: null },
    { runners: [null] },
    { runners: [{ id: 1, name: 'x', status: 'online' }] },
  ])('where GitHub’s answer for one entity is %j', async (body) => {
    for (let n = 0; n < 2; n += 1) await scene.putRunning(30, 'registered');
    const other = await putOfUser();
    await putOthers();
    await scene.world.github.failNext({ path: `/orgs/acme${LIST}`, status: 200, body, times: 10 });
    expect(await scene.sweep()).toMatchObject({ overdue: 4, stopping: 2, unread: 1, forgotten: 1 });
    expect(await stopping()).toContainEqual({ pod_name: other });
    expect(scene.told.join()).toContain('not read "acme"');
  });
});

test('the only worker of its scope is no reason for doubt when GitHub does not know it: it is stopped (E5)', async () => {
  const podName = await scene.putRunning(11, 'none', { online_seen_at: minutesAgo(9) });
  expect(await scene.sweep()).toMatchObject({ overdue: 1, stopping: 1, unread: 0 });
  expect(await stopping()).toEqual([{ pod_name: podName }]);
});

test('an entity that refuses us is recorded, and left alone for a while (C9)', async () => {
  await putInstallation(scene.db, {
    entity_id: scene.world.organization.id,
    app_id: scene.world.appId,
    installation_id: scene.world.organization.installationId,
  });
  await scene.putRunning(11, 'registered');
  await scene.world.github.failNext({ path: LIST, status: 403 });
  await scene.sweep();
  const events = await scene.db
    .selectFrom('installation_events')
    .select(['source', 'event', 'outcome'])
    .execute();
  expect(events).toEqual([
    { source: 'reconciler', event: 'auth_attempt.other_error', outcome: 'auth_other_error' },
  ]);
  expect(await scene.sweep()).toMatchObject({ overdue: 0 });
  await scene.db
    .updateTable('installations')
    .set({ refused_until: new Date(0) })
    .execute();
  expect(await scene.sweep()).toMatchObject({ overdue: 1, stopping: 1 });
});

test.each([0, 1, 2, 3].flatMap((nth) => [{ nth, status: 500 }, { nth }]))(
  'if a call fails, the next pass does it all: %j',
  async ({ nth, ...fault }) => {
    const names = [
      await scene.putRunning(11, 'registered'),
      await scene.putRunning(11, 'registered'),
      await putOfUser(),
    ];
    await scene.world.github.failNext({ path: '.', after: nth, ...fault });
    await scene.sweep();
    await scene.world.github.clearFaults();
    await scene.db.updateTable('workers').set({ runner_checked_at: null }).execute();
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
