import { beforeEach, describe, expect, test } from '@jest/globals';
import { saveAppIds } from '@paddock/db/instance';
import { recordDone } from '@paddock/queue/operations';
import { snooze } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import type { z } from 'zod';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import type { Endpoint } from '../endpoint.ts';
import { redeliverDeliveryEndpoint } from '../deliveries/deliveries.ts';
import { resyncInstallationEndpoint } from '../installations/installations.ts';
import {
  findRepositoryEndpoint,
  listRepositoriesEndpoint,
  resyncRepositoryEndpoint,
} from '../repositories/repositories.ts';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { turnSwitchEndpoint } from '../switches/switches.ts';
import { listSweepsEndpoint, runSweepEndpoint } from '../sweeps/sweeps.ts';
import { maySee } from '../tokens/may-call.ts';
import { findOperationEndpoint, type operation } from './operation.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyAll(database.db);
  await putInstallation(database.db);
  await putPools(database.db);
  await saveAppIds(database.db, [7, 8]);
  const tick = { last_tick_at: new Date() };
  await database.db
    .insertInto('schedules')
    .values([
      { name: 'redeliver:7', ...tick },
      { name: 'check-apps', ...tick },
    ])
    .execute();
});

const path = { owner: 'Acme', repository: 'App' };
const resync = (person = 'ada', more: object = {}) =>
  ask(resyncRepositoryEndpoint, database.db, { ...path, ...more }, person);
const find = (id: string) => ask(findOperationEndpoint, database.db, { operation: id });
/** Whose token is for resyncs of the repository alone. */
const bearer = (person: string) => ({
  person,
  access: 'operate' as const,
  narrowedTo: { endpoint: 'resyncRepository', subject: { owner: 'acme', repository: 'app' } },
});
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;
const rows = () => database.db.selectFrom('tasks').selectAll().execute();

type Asked = Endpoint<z.ZodObject, typeof operation>;

/** Each task that people ask for, and what is enqueued for it. */
const TASKS: [Asked, input: object, kind: string, subject: { type: string; id: string }][] = [
  [resyncRepositoryEndpoint, path, 'discover-jobs', { type: 'repository', id: 'acme/app' }],
  [
    resyncInstallationEndpoint,
    { installation: '51000001' },
    'discover-jobs',
    { type: 'installation', id: '51000001' },
  ],
  [
    redeliverDeliveryEndpoint,
    { delivery: '0B989BA4-242F-11E5-81E1-C7B6966D2516' },
    'redeliver',
    { type: 'delivery', id: '0b989ba4-242f-11e5-81e1-c7b6966d2516' },
  ],
  [
    runSweepEndpoint,
    { sweep: 'redeliver', since: '2026-01-31' },
    'redeliver',
    { type: 'app', id: '7' },
  ],
  [runSweepEndpoint, { sweep: 'check-apps' }, 'check-apps', { type: 'schedule', id: 'check-apps' }],
];

describe.each(TASKS)('$0.name %j (F5)', (endpoint, input, kind, subject) => {
  const start = (more: object = {}, person = 'ada') =>
    ask(endpoint, database.db, { ...input, ...more }, person);

  test('answers its operation, which the audit names', async () => {
    const started = await start({ note: 'a restore' });
    expect(started).toMatchObject({
      kind,
      subject,
      origin: 'MANUAL',
      status: 'QUEUED',
      requestedBy: 'ada',
      startedAt: null,
      askers: [{ person: 'ada', note: 'a restore' }],
    });
    expect(await find(started.id)).toEqual(started);
    expect(await actions()).toMatchObject([
      { endpoint: endpoint.name, person: 'ada', note: 'a restore', operation: started.id },
    ]);
  });

  test('is refused while its sweep is paused, and enqueues nothing', async () => {
    const held = { how: 'pause', subject: kind, note: 'reading logs' };
    await ask(turnSwitchEndpoint, database.db, held, 'grace');
    await expect(start()).rejects.toMatchObject({
      status: 409,
      detail: expect.stringMatching(/^The sweep \S+ is paused by grace since \S+ \(reading logs\)/),
    });
    expect(await rows()).toEqual([]);
    expect((await actions()).map((row) => row.endpoint)).toEqual(['turnSwitch']);
  });
});

const runSweep = (sweep: string, more: object = {}) =>
  ask(runSweepEndpoint, database.db, { sweep, ...more });

test('a dry run of a sweep runs beside the real one, also while that is paused (F5)', async () => {
  const real = await runSweep('delete-ended-pods');
  await ask(turnSwitchEndpoint, database.db, { how: 'pause', subject: 'sweeps' });
  const dry = await runSweep('delete-ended-pods', { dryRun: true });
  expect(dry).toMatchObject({ subject: { type: 'dry-run', id: 'delete-ended-pods' } });
  const row = (await rows()).find(({ id }) => id === dry.id);
  expect([dry.id === real.id, row?.payload]).toEqual([false, { dryRun: true }]);
});

test('an operation that several ask for is seen by each of their narrowed tokens, also after one was merged into another (F5, F7)', async () => {
  const sees = async (person: string, id: string) =>
    maySee(bearer(person), findOperationEndpoint, await find(id));
  const first = await resync('token a');
  await resync('token b');
  let last = '';
  await runDueTasks({
    db: database.db,
    kinds: {
      'discover-jobs': {
        slots: 1,
        handler: async () => {
          if (last !== '') return snooze(9_999_999, 'a rate limit');
          last = (await resync('token c')).id;
          return snooze(0, 'a rate limit');
        },
      },
    },
  });
  expect(last).not.toBe(first.id);
  expect((await find(first.id)).askers.map(({ person }) => person)).toEqual([
    'token a',
    'token b',
    'token c',
  ]);
  for (const person of ['token a', 'token b', 'token c'])
    expect([person, await sees(person, first.id)]).toEqual([person, true]);
  expect([await sees('token c', last), await sees('token a', last)]).toEqual([true, false]);
  expect(await sees('token d', first.id)).toBe(false);
  expect(maySee(bearer('token a'), findOperationEndpoint, undefined)).toBe(false);
});

test.each([
  [resyncRepositoryEndpoint, { owner: 'globex', repository: 'app' }, 404, 'ever installed'],
  [resyncInstallationEndpoint, { installation: '1' }, 404, 'no installation of this id'],
  [runSweepEndpoint, { sweep: 'redeliver', app: '8', since: '-1d' }, 404, 'not know the App 8. It'],
  [runSweepEndpoint, { sweep: 'redeliver', app: '7', since: '2999-01-31' }, 400, 'in the future'],
  [runSweepEndpoint, { sweep: 'check-apps', since: '-1d' }, 400, 'Only `redeliver` has `since`'],
  [runSweepEndpoint, { sweep: 'check-apps', app: '7' }, 400, 'is not about one App'],
] as const)('$0.name refuses %j (F5)', async (endpoint, input, status, detail) => {
  const asking: Promise<unknown> = ask<z.ZodObject, z.ZodType>(endpoint, database.db, input);
  await expect(asking).rejects.toMatchObject({ status, detail: expect.stringContaining(detail) });
  expect([await rows(), await actions()]).toEqual([[], []]);
});

test('a resync is refused where the App was removed (F5)', async () => {
  await database.db.updateTable('installations').set({ deleted_at: new Date() }).execute();
  await expect(resync()).rejects.toMatchObject({ status: 409 });
  const input = { installation: '51000001' };
  const whole = ask(resyncInstallationEndpoint, database.db, input);
  await expect(whole).rejects.toMatchObject({ status: 409 });
});

test('of several Apps one must be named (F5)', async () => {
  const tick = { name: 'redeliver:8', last_tick_at: new Date() };
  await database.db.insertInto('schedules').values(tick).execute();
  const detail = expect.stringContaining('7, 8');
  await expect(runSweep('redeliver')).rejects.toMatchObject({ status: 400, detail });
  expect(await runSweep('redeliver', { app: '8' })).toMatchObject({ subject: { id: '8' } });
});

test('an App that was taken out of the file has no sweep, and is none that could be meant (F5)', async () => {
  const { db } = database;
  const tick = { name: 'redeliver:8', last_tick_at: new Date() };
  await db.insertInto('schedules').values(tick).execute();
  await saveAppIds(db, [8]);
  expect(await runSweep('redeliver')).toMatchObject({ subject: { id: '8' } });
  const { items } = await ask(listSweepsEndpoint, db);
  expect(items.map(({ name }) => name)).toEqual(['check-apps', 'redeliver:8']);
});

test('sweeps say when they last succeeded, how their last run went and what it could not reach (D10)', async () => {
  const { db } = database;
  const at = new Date('2026-01-31T00:00:00Z');
  // Some sweeps go by entity, and some by entity and repository.
  const unreached = { '90000001 0': 2, '90000001 7': 1, 5: 1 };
  const last_pass = JSON.stringify({ unreached, failing: { 'app 7': { times: 1 } } });
  const checked = db.updateTable('schedules').where('name', '=', 'check-apps');
  await checked.set({ succeeded_at: at, last_pass }).execute();
  const subject = { type: 'schedule', id: 'check-apps' };
  const task = { kind: 'check-apps', subject, requestedBy: 'ada' };
  const run = await db.transaction().execute((trx) => recordDone(trx, task, {}));
  for (const paused of ['check-apps', 'redeliver:8'])
    await ask(turnSwitchEndpoint, db, { how: 'pause', subject: paused });
  await db.insertInto('schedules').values({ name: 'redeliver:8', last_tick_at: at }).execute();
  const all = await askAll(listSweepsEndpoint, db, { limit: '1' });
  expect(all).toMatchObject([
    {
      name: 'check-apps',
      succeededAt: at.toISOString(),
      lastRun: { operation: run, status: 'OK', tookMs: 0, message: null },
      pausedBy: 'ada',
      unreached: ['5', 'acme'],
      failing: ['app 7'],
    },
    { name: 'redeliver:7', lastRun: null, pausedBy: null, unreached: [], failing: [] },
    { name: 'redeliver:8', pausedBy: 'ada' },
  ]);
});

const show = (more: object = {}) => ask(findRepositoryEndpoint, database.db, { ...path, ...more });

describe('a repository (F4, F5)', () => {
  const at = new Date('2026-01-31T00:00:00Z');
  const owner = { entity_id: 90_000_001, app_id: 1001 };
  beforeEach(() =>
    database.db
      .insertInto('repositories')
      .values([
        { repo_id: 5, ...owner, full_name: 'ACME/app', active_at: at, resynced_at: at },
        { repo_id: 6, ...owner, full_name: 'acme/Web', active_at: at },
      ])
      .execute(),
  );
  test('says whether and why not it is looked through, and is forbidden by a switch', async () => {
    const subject = 'discover-jobs:Acme/App';
    const goesOn = { enabled: true, disabled: null, entity: { login: 'acme' } };
    expect(await show()).toMatchObject({ ...goesOn, resyncs: { held: null } });
    await ask(turnSwitchEndpoint, database.db, { how: 'pause', subject, note: 'too large' });
    expect(await show()).toMatchObject({
      enabled: false,
      disabled: 'ada forbids it: too large',
      resyncs: { subject: 'discover-jobs:acme/app', held: { by: 'ada', note: 'too large' } },
    });
    await expect(resync()).rejects.toMatchObject({ status: 409 });
    await resync('ada', { repository: 'other' });
    await ask(turnSwitchEndpoint, database.db, { how: 'resume', subject });
    expect(await show()).toMatchObject(goesOn);
    for (const [change, disabled] of [
      [{ suspended_at: at }, 'its installation is suspended'],
      [{ deleted_at: at }, 'the App is not installed on its owner'],
    ] as const) {
      await database.db.updateTable('installations').set(change).execute();
      expect(await show()).toMatchObject({ enabled: false, disabled });
    }
  });

  test('has its last resync, also where the row of its operation has expired', async () => {
    const expired = { status: 'OK', at: at.toISOString(), operation: null, why: null };
    expect(await show()).toMatchObject({ lastSync: expired });
    const { id } = await resync();
    const lastSync = {
      status: 'QUEUED',
      operation: id,
      why: 'a free place among those of its kind',
    };
    expect(await show()).toMatchObject({ lastSync });
    expect(await show({ repository: 'web' })).toMatchObject({ lastSync: null });
  });

  test('is in a list by owner and name; a made-up one is not found', async () => {
    const listed = await askAll(listRepositoriesEndpoint, database.db, {
      limit: '1',
      entity: 'acme',
    });
    expect(listed.map(({ fullName }) => fullName)).toEqual(['ACME/app', 'acme/Web']);
    await putJob(database.db, { repo_id: 7, repo_full_name: 'acme/new' });
    expect(await show({ repository: 'New' })).toMatchObject({ id: 7, enabled: true });
    await expect(show({ repository: 'none' })).rejects.toMatchObject({ status: 404 });
  });
});
