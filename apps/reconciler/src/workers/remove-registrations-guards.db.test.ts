import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { describe, expect, test } from '@jest/globals';
import { ACME, TOOL } from '../scenes/registrations.scene.ts';
import { useRegistrationsScene } from '../scenes/use-scenes.scene.ts';
import { putFailedLong } from '../scenes/pass.scene.ts';

const database = useTestDatabase();
const scene = useRegistrationsScene(database);

const NOTHING = { unused: 0, inUse: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };

/** A registration that the next pass removes. Returns its name. */
async function oneDue(): Promise<string> {
  await scene.knowScope(ACME);
  const { name } = await scene.register();
  await scene.sweep();
  await scene.passHours();
  return name;
}

/** GitHub's next list of acme's runners is empty by mistake. */
const listNone = () =>
  scene.world.github.failNext({
    method: 'GET',
    path: '/orgs/acme/actions/runners$',
    status: 200,
    body: { total_count: 0, runners: [] },
  });

describe('remove-registrations does nothing', () => {
  test('when a list fails; other entities go on, and the refusal is written down once (C9)', async () => {
    const name = await oneDue();
    await scene.knowScope(TOOL);
    const { appId, organization } = scene.world;
    await putInstallation(database.db, {
      entity_id: organization.id,
      app_id: appId,
      installation_id: organization.installationId,
    });
    await scene.world.github.failNext({ path: '/orgs/acme/actions/runners', status: 403 });
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 1, removed: 0 });
    expect(scene.told).toEqual(['acme: forbidden']);
    expect(await scene.noted()).toEqual([name]);
    expect(await scene.runners()).toEqual([name]);
    const events = await database.db
      .selectFrom('installation_events')
      .select(['event', 'entity_id'])
      .execute();
    expect(events).toEqual([
      { event: 'auth_attempt.other_error', entity_id: scene.world.organization.id },
    ]);
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 0, removed: 0 });
  });

  test('beside an App that is no longer configured, or an unreadable answer; other entities continue', async () => {
    await putWorker(database.db, {
      entity_id: 77,
      app_id: 999,
      installation_id: 5,
      status: 'completed',
      completed_at: minutesAgo(1),
    });
    for (const scope of [ACME, TOOL]) await scene.knowScope(scope);
    await scene.world.github.failNext({
      path: '/orgs/acme/actions/runners$',
      status: 200,
      body: {},
    });
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 1 });
    expect(await scene.sweep()).toMatchObject({ listed: 2, failed: 0 });
  });

  test('when the second page of a list fails', async () => {
    const name = await oneDue();
    await Promise.all(Array.from({ length: 100 }, () => scene.register()));
    await scene.world.github.failNext({
      path: '/orgs/acme/actions/runners',
      status: 502,
      after: 1,
    });
    expect(await scene.sweep()).toMatchObject({ listed: 0, failed: 1, removed: 0 });
    expect(await scene.noted()).toEqual([name]);
  });

  test('when a list is cut off: it has fewer runners than its total', async () => {
    const name = await oneDue();
    await scene.world.github.failNext({
      path: '/orgs/acme/actions/runners$',
      status: 200,
      body: { total_count: 1, runners: [] },
    });
    expect(await scene.sweep()).toMatchObject({ listed: 0, failed: 1, removed: 0 });
    expect(await scene.noted()).toEqual([name]);
  });

  test('when a list lacks our runners although a registered worker lives', async () => {
    const name = await oneDue();
    await scene.knowScope(ACME, { status: 'running' });
    await listNone();
    expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 0, failed: 1 });
    expect(scene.told).toEqual(['acme: runners missing']);
    expect(await scene.noted()).toEqual([name]);
  });

  test('when such lists have come for long, and GitHub knows one of ours by its id; when it knows none, the list is believed', async () => {
    const name = await oneDue();
    const schedule = await putFailedLong(database.db, scene.world.organization.id);
    const { runnerId, name: alive } = await scene.register();
    await scene.knowScope(ACME, { status: 'running', pod_name: alive, runner_id: runnerId });
    await listNone();
    expect(await scene.sweep({ pass: { schedule } })).toMatchObject({ listed: 0, failed: 1 });
    expect(await scene.noted()).toEqual([name]);
    await database.db.updateTable('workers').set({ runner_id: 999 }).execute();
    await listNone();
    expect(await scene.sweep()).toMatchObject({ listed: 0, failed: 1 });
    expect(await scene.noted()).toEqual([name]);
    await listNone();
    expect(await scene.sweep({ pass: { schedule } })).toEqual({ ...NOTHING, listed: 1 });
    expect(await scene.noted()).toEqual([]);
  });

  test('when such lists have come for long, and an adopted worker’s id is not known', async () => {
    const name = await oneDue();
    const schedule = await putFailedLong(database.db, scene.world.organization.id);
    await scene.knowScope(ACME, { status: 'running', runner_id: null });
    await listNone();
    expect(await scene.sweep({ pass: { schedule } })).toMatchObject({ listed: 0, failed: 1 });
    expect(await scene.noted()).toEqual([name]);
  });

  test('to any registration without a row when more of them would go than their cap; others go', async () => {
    for (let nth = 0; nth < 3; nth++) await scene.fail();
    const strays: string[] = [];
    for (let nth = 0; nth < 3; nth++) strays.push((await scene.register()).name);
    await scene.sweep();
    await scene.passHours();
    expect(await scene.sweep({ strayCap: 2 })).toEqual({
      ...NOTHING,
      listed: 1,
      unused: 6,
      removed: 3,
      overCap: 3,
    });
    expect(scene.told).toContain('3 are more than 2');
    expect(await scene.runners()).toEqual(strays.toSorted());
    expect(await scene.sweep({ strayCap: 3 })).toMatchObject({ removed: 3, overCap: 0 });
  });

  test('beyond the cap of a pass: the others go with the next one', async () => {
    for (let nth = 0; nth < 3; nth++) await scene.fail();
    await scene.sweep();
    await scene.passHours();
    expect(await scene.sweep({ cap: 2 })).toMatchObject({ removed: 2, failed: 0, left: 0 });
    expect(await scene.runners()).toHaveLength(1);
    expect(await scene.sweep({ cap: 2 })).toMatchObject({ removed: 1 });
  });
});

describe('remove-registrations is made good by later passes', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('when call %d to GitHub fails', async (after) => {
    await oneDue();
    await scene.fail(TOOL);
    await scene.world.github.failNext({ path: '/', status: 502, after });
    for (let pass = 0; pass < 4; pass++) {
      await scene.sweep();
      await scene.passHours();
    }
    expect(await scene.runners()).toEqual([]);
    expect(await scene.noted()).toEqual([]);
  });

  test('when the answer to a removal was lost', async () => {
    await oneDue();
    await scene.world.github.failNext({
      method: 'DELETE',
      path: '/actions/runners/',
      afterCommit: true,
    });
    expect(await scene.sweep()).toMatchObject({ removed: 0 });
    expect(await scene.sweep()).toMatchObject({ unused: 0, removed: 0 });
    expect(await scene.noted()).toEqual([]);
  });
});
