import { describe, expect, test } from '@jest/globals';
import { findInstallation } from '@paddock/db/jobs/repositories';
import { findUnknownWarmScopes } from '@paddock/db/matching/reserve-workers';
import { minutesAgo, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { ENDED, noteRepositories, useMatching } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';

const ACME = 90_000_001;
const SAM = 90_000_002;
const THIEF = 666;
const scene = useMatching();

const install = (login: string, entity_id: number, given: object = {}) =>
  putInstallation(scene.db, { entity_id, login, installation_id: entity_id + 1, ...given });
/** Keeps workers warm for this scope in the pool `linux`; `given` has the rest of the pool. */
const keep = (scope: string, workers: number, given: object = {}, entities: object = { '*': {} }) =>
  putPools(scene.db, { pools: [{ warm: [{ scope, workers }], ...given }], entities });
const ownersNow = async () =>
  (await scene.workers()).map((worker) => [worker.entity_id, worker.scope_repo_id]);

describe('warm workers (C10)', () => {
  test('by the clock: made when a time begins, and stopped when it ends', async () => {
    await install('acme', ACME);
    const always = { from: '00:00', to: '00:00', timezone: 'Europe/Berlin', workers: 3 };
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
    const today = new Date().getUTCDay();
    // Neither today nor a day of any time zone beside it.
    const never = {
      ...always,
      days: [2, 3, 4, 5].map((later) => days[(today + later) % 7] ?? 'mon'),
    };
    const keepAt = (...times: (typeof always)[]) =>
      putPools(scene.db, {
        pools: [{ warm: [{ scope: 'acme', workers: 1, times }] }],
        entities: { '*': {} },
      });
    await keepAt(never);
    expect(await scene.matchAll()).toBe(1);
    await keepAt(never, always);
    expect(await scene.matchAll()).toBe(2);
    await keepAt(never);
    await scene.matchAll();
    const live = (await scene.workers()).filter(
      ({ status, stopping_at }) => status === 'pending' && stopping_at === null,
    );
    expect(live).toHaveLength(1);
  });

  test('are made without a job, with the present facts of pool and entity, and once', async () => {
    await install('Acme', ACME);
    await keep('ACME', 2);
    expect(await scene.matchAll()).toBe(2);
    const [warm] = await scene.workers();
    const job = await putJob(scene.db);
    expect(warm).toMatchObject({
      is_warm: true,
      made_for_job_id: null,
      demand_key: job.demand_key,
      entity_id: ACME,
      entity_name: 'Acme',
      installation_id: ACME + 1,
      scope_repo_id: 0,
      repo_full_name: null,
      k8s_pool: 'linux',
      k8s_image: 'ghcr.io/acme/runner:1',
      namespace: 'runners',
      job_labels: ['linux', 'self-hosted'],
    });
  });

  test.each([
    ['an entity without the App', 'missing', 0],
    ['an entity whose App is suspended', 'away', 0],
    ['a repository where runners register at the organisation', 'acme/api', 0],
    ['a user, where they register at repositories', 'sam', 0],
    ['a repository that discovery has not noted', 'sam/one', 0],
    ['a repository that discovery has noted', 'sam/two', 1],
    ['an organisation', 'acme', 1],
  ])('for %s: %s is reported if none can be made for it (P5)', async (_what, scope, made) => {
    await install('acme', ACME);
    await install('sam', SAM, { entity_type: 'User' });
    await install('away', 90_000_003, { suspended_at: new Date() });
    const noted = { full_name: 'Sam/two', entity_id: SAM, app_id: 1001, repo_id: 22 };
    const active = { ...noted, active_at: new Date() };
    await scene.db.insertInto('repositories').values(active).execute();
    await keep(scope, 1);
    const unknown = made === 0 ? [{ pool: 'linux', scope }] : [];
    expect(await findUnknownWarmScopes(scene.db, GATE.appIds)).toEqual(unknown);
    expect(await scene.matchAll()).toBe(made);
  });

  test('of a repository come once discovery has noted it, and stay when it has no job (C2)', async () => {
    await install('sam', SAM, { entity_type: 'User' });
    await keep('sam/One', 1);
    expect(await scene.matchAll()).toBe(0);
    await putJob(scene.db, {
      entity_type: 'User',
      entity_name: 'sam',
      entity_id: SAM,
      repo_id: 21,
      repo_full_name: 'sam/one',
    });
    await noteRepositories(scene.db);
    expect(await scene.matchAll()).toBe(2);
    await scene.changeJobs({ wants_worker: false, status: 'completed' });
    await scene.match();
    expect(
      (await scene.alive()).map((worker) => [worker.scope_repo_id, worker.repo_full_name]),
    ).toEqual([[21, 'sam/one']]);
  });

  test('of a name that an old job bears too are made where it is today', async () => {
    await keep('acme/api', 1, { registration: 'repository' });
    await install('acme', ACME);
    const running = { status: 'running', wants_worker: false } as const;
    for (const [id, minutes] of [
      [2, 0],
      [1, 60],
    ] as const) {
      const queued_at = new Date(Date.now() - minutes * 60_000);
      await putJob(scene.db, { ...running, repo_id: id, scope_repo_id: id, queued_at });
      await noteRepositories(scene.db);
    }
    await scene.matchAll();
    expect(await ownersNow()).toEqual([[ACME, 2]]);
  });

  test('are replaced when they come of age, a tenth at a time and one at least', async () => {
    await install('acme', ACME);
    await keep('acme', 11);
    await scene.matchAll();
    const running = (minutes: number) =>
      scene.changeWorkers({
        status: 'running',
        registration_started_at: minutesAgo(minutes),
        registered_at: minutesAgo(minutes),
        running_at: minutesAgo(minutes),
      });
    await running(719);
    expect(await scene.match()).toMatchObject({ stopped: [], reserved: [] });
    await running(721);
    expect(await scene.match()).toMatchObject({ stopped: [{}, {}], reserved: [{}, {}] });
    expect(await scene.match()).toMatchObject({ stopped: [], reserved: [] });
    const expired = (await scene.workers()).filter(({ stop_reason: why }) => why !== null);
    expect(expired.map(({ stop_reason: why }) => why)).toEqual(['warm_expired', 'warm_expired']);
    for (const { pod_name: name } of expired)
      await scene.changeWorkers({ status: 'completed', completed_at: new Date() }, name);
    expect((await scene.match()).stopped).toHaveLength(2);
  });

  test('are replaced in the same way when their pool has changed, and not for another pool, number or gate', async () => {
    await install('acme', ACME);
    await keep('acme', 3);
    await scene.matchAll();
    const registered = { registered_at: minutesAgo(1), running_at: minutesAgo(1) };
    await scene.changeWorkers({ status: 'running', ...registered });
    const linux = { warm: [{ scope: 'acme', workers: 3 }] };
    const other = { name: 'other', labels: ['other'] };
    await putPools(scene.db, {
      pools: [{ ...linux, maxWorkers: 9, entities: ['acme', 'mona'] }, other],
    });
    expect(await scene.match()).toMatchObject({ stopped: [], reserved: [] });
    await putPools(scene.db, { pools: [{ ...linux, image: 'ghcr.io/acme/runner:2' }] });
    for (let replaced = 1; replaced <= 3; replaced++) {
      const { stopped, reserved } = await scene.match();
      expect([stopped.length, reserved.length]).toEqual([1, 1]);
      expect(await scene.match()).toMatchObject({ stopped: [], reserved: [] });
      await scene.changeWorkers(ENDED, stopped[0]?.podName);
      await scene.changeWorkers(registered, reserved[0]?.podName);
    }
    expect(await scene.match()).toMatchObject({ stopped: [], reserved: [] });
  });
});

describe('an entity under a login that is another one’s', () => {
  test('gets no worker and uses nothing of the login’s share (C4)', async () => {
    await putPools(scene.db, { entities: { acme: { maxWorkers: 1 }, '*': {} } });
    await install('acme', ACME, { stated_at: minutesAgo(9) });
    await install('Acme', THIEF);
    await scene.pin('acme', ACME);
    for (const entity_id of [THIEF, ACME, ACME])
      await putJob(scene.db, {
        entity_id,
        installation_id: entity_id + 1,
        entity_name: entity_id === ACME ? 'acme' : 'Acme',
      });
    expect(await scene.matchAll()).toBe(1);
    expect(await ownersNow()).toEqual([[ACME, 0]]);
    expect(new Set((await scene.keys()).map((key) => key.join(' ')))).toEqual(
      new Set(['acme linux 1 at_entity_cap', 'Acme linux 0 entity_not_allowed']),
    );
  });

  test('gets no warm workers, and the scope is not looked up in its place (C10)', async () => {
    await keep('acme', 1, {}, { acme: {} });
    await install('acme', ACME, { stated_at: minutesAgo(9) });
    await install('acme', THIEF);
    await scene.pin('acme', ACME);
    await scene.matchAll();
    expect(await ownersNow()).toEqual([[ACME, 0]]);
    expect(await findInstallation(scene.db, { login: 'Acme' }, GATE.appIds)).toMatchObject({
      entityId: ACME,
    });
    await scene.db.deleteFrom('workers').execute();
    await scene.db
      .updateTable('installations')
      .set({ suspended_at: minutesAgo(0) })
      .where('entity_id', '=', ACME)
      .execute();
    expect(await scene.matchAll()).toBe(0);
  });

  test.each([
    ['acme', { entities: ['acme'] }],
    ['acme/api', { registration: 'repository', repositories: ['acme/*'] }],
  ] as const)(
    'has no worker in a pool for %s alone, warm or for a job, although everybody is served (C4, C10)',
    async (scope, gate) => {
      await keep(scope, 1, gate);
      await scene.pin('acme', ACME);
      await install('acme-renamed', ACME);
      await install('acme', THIEF);
      const repository = { repo_id: 668, scope_repo_id: scope === 'acme' ? 0 : 668 };
      const job = { entity_id: THIEF, installation_id: THIEF + 1, ...repository };
      await putJob(scene.db, { ...job, status: 'running', wants_worker: false });
      await noteRepositories(scene.db);
      expect(await scene.matchAll()).toBe(0);
      await putJob(scene.db, job);
      expect(await scene.matchAll()).toBe(0);
      expect(await scene.keys()).toEqual([['acme', 'linux', 0, 'pool_closed']]);
    },
  );
});
