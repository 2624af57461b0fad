import { beforeAll, describe, expect, test } from '@jest/globals';
import { noteLife } from '@paddock/db/instance';
import { noteAway } from '@paddock/db/outages';
import { setSwitch } from '@paddock/db/switches';
import { putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, putKey } from '../scenes/ask.scene.ts';
import { listDiagnosesEndpoint } from './list-diagnoses.ts';
import { tryAgainEndpoint } from './try-again.ts';

const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;

const database = useTestDatabase();
const diagnose = (of: string) => ask(listDiagnosesEndpoint, database.db, { of });
const namesOf = async (of: string) => (await diagnose(of)).items.map(({ name }) => name);

const at = (minute: number) => new Date(Date.UTC(2026, 0, 31, 9, minute)).toISOString();

beforeAll(async () => {
  const { db } = database;
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, repository_selection, stated_at)
    values (90000001, 1001, 70, 'acme-old', 'Organization', 'selected', now()), (2, 3003, 71, 'well', 'Organization', 'all', now())`.execute(
    db,
  );
  await sql`update installations set login = 'acme' where entity_id = 90000001`.execute(db);
  const created = {
    installation: { id: 70, account: { login: 'acme' }, repository_selection: 'selected' },
    repositories: [{ id: 780_000_001, full_name: 'acme/api' }],
  };
  await sql`insert into installation_events (source, event, outcome, app_id, installation_id, entity_id, repo_id, job_id, payload)
    values ('webhook', 'installation.created', 'ok', 1001, 70, 90000001, null, null, ${JSON.stringify(created)}),
      ('webhook', 'workflow_job.queued', 'ignored_no_label', 1001, 69, 90000001, 780000001, 5, '{}'),
      ('webhook', 'workflow_job.queued', 'ignored_no_label', 1001, 70, 90000001, 780000001, 6, '{}'),
      ('scheduler', 'auth_attempt.404', 'auth_404', 2002, 70, 90000001, null, null, '{}'),
      ('reconciler', 'auth_attempt.other_error', 'auth_other_error', 1001, null, null, null, null, '{}'),
      ('webhook', 'workflow_job.queued', 'ok', 3003, 71, 2, 9, 7, '{}')`.execute(db);
  await sql`insert into unresolved_deliveries (app_id, guid, delivery_id, event, installation_id, first_failed_at, last_failed_at, last_status_code)
    values (1001, 'a', 1, 'workflow_job', 70, now(), now(), 502)`.execute(db);
  await putKey(db, await putJob(db, {}), 'at_pool_cap');
});

/** Of the pool linux alone. */
const LINUX = [
  '1 The last pass found no room under maxWorkers of the pool linux.',
  '0 Workers in linux fail before they have a job: quota.',
  '0 The runner group of linux lets in more than the pool serves: it lets in more.',
] as const;

describe('the diagnoses (G3)', () => {
  test('of an account are all that its rows say', async () => {
    expect(await namesOf('acme')).toEqual([
      'reinstalled',
      'refused',
      'wrong_app',
      'not_delivered',
      'no_fitting_labels',
      'at_cap',
    ]);
    expect((await namesOf('ACME-OLD'))[0]).toBe('renamed');
  });

  test('of a repository are those of its deliveries and jobs', async () => {
    expect(await namesOf('acme/api')).toEqual(await namesOf('acme'));
    expect(await namesOf('acme/shop')).toEqual([
      'repository_not_selected',
      'reinstalled',
      'refused',
      'wrong_app',
      'not_delivered',
    ]);
  });

  test('say what, since when and who can act', async () => {
    const { entity, items } = await diagnose('acme');
    expect(entity).toEqual({ id: 90_000_001, login: 'acme' });
    expect(items.find(({ name }) => name === 'no_fitting_labels')).toMatchObject({
      sentence: expect.stringContaining('2 of the newest deliveries made no worker'),
      since: expect.stringMatching(/^20/),
      actor: 'author',
      advice: expect.stringMatching(/^`paddock why [56]` /),
    });
  });

  test('of the fleet are services that are silent, and whatever else holds work back, with its jobs (P5)', async () => {
    const fleet = async () => (await ask(listDiagnosesEndpoint, database.db)).items;
    await database.db
      .updateTable('instance')
      .set({ created_at: new Date(at(0)) })
      .execute();
    const silent = (await fleet()).filter(({ name }) => name === 'service_silent');
    expect(silent.map(({ sentence }) => /the service (\w+)/.exec(sentence)?.[1])).toEqual(SERVICES);
    for (const service of SERVICES) await noteLife(database.dbOf(service), service);
    const { entity, items } = await ask(listDiagnosesEndpoint, database.db);
    expect([entity, items.length]).toEqual([null, 1]);
    expect(items[0]).toMatchObject({ name: 'at_pool_cap', jobs: 1, pools: ['linux'], until: null });
    expect(items[0]?.job).toBeGreaterThan(0);
  });

  test('of the fleet and of a pool are all causes, also without a waiting job, and who tries them again (P5)', async () => {
    const { db } = database;
    const pools = ['linux', 'gpu', 'still'].map((name) => ({
      name,
      labels: [name],
      paused: name === 'still',
    }));
    await putPools(db, { pools });
    await putKey(db, await putJob(db, { k8s_pool: 'gpu', repo_id: 9 }), 'making_stopped');
    await setSwitch(db, 'pool:gpu', 'ada', 'new image');
    await setSwitch(db, 'entity:2', 'bob');
    await noteAway(db, 'github', 'timed out');
    await sql`with keys as (
        insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, failures, pauses, failure_class, failure_message, failing_since, paused_until)
        values (1, 9, 'globex', 0, 'linux', 0, 0, 3, 1, 'pod_refused', 'quota', now() - interval '3 minutes', now() + interval '1 hour'),
          (3, 9, 'globex', 3, 'linux', 0, 0, 2, 0, 'exit_code', 'failed twice', now(), null)
      ), groups as (
        insert into runner_groups (demand_key, entity_id, k8s_pool, name, excess, paused_until, read_at)
        values (1, 9, 'linux', 'open', 'it lets in more', now() + interval '1 hour', now() - interval '2 minutes'), (3, 9, 'linux', 'open', 'a warning', null, now())
      ), slow as (
        insert into apps (app_id, wait_until, wait_message) values (7, now() + interval '1 hour', 'Be slower.')
      ), unkeyed as (
        insert into apps (app_id, refused_since, refused_until, refused_reason, refused_message)
        values (8, now() - interval '1 minute', now() + interval '1 hour', 'installation_refused', 'Bad key.')
      ), used_up as (
        update installations set registrations_left = 0, registrations_reset_at = now() + interval '1 hour' where entity_id = 2
      ), hidden as (
        insert into repositories (repo_id, entity_id, app_id, full_name, active_at, refused_since, refused_until, refused_reason, refused_message)
        select n, 2, 3003, 'well/r' || n, now(), now(), now() + interval '1 hour', 'repository_refused', 'No.' from generate_series(1, 3) n
      ), asleep as (
        insert into tasks (kind, subject_type, subject_id, max_attempts, failures, due_at)
        values ('redeliver', 'app', '7', 3, '[{"message": "no log"}]', now() + interval '1 hour'), ('upkeep', 'schedule', 'upkeep', 3, '[]', now() - interval '1 hour')
      ) insert into operations (id, kind, subject_type, subject_id, payload, origin, status, attempt, max_attempts, crashes, failures, queued_at, expires_at, output)
      values (gen_random_uuid(), 'check-apps', 'schedule', 'check-apps', '{}', 'AUTOMATIC', 'OK', 1, 3, 0, '[]', now(), now() + interval '1 day', '{"problems": ["App 7: no webhook"]}'),
        (gen_random_uuid(), 'recover-tasks', 'schedule', 'recover-tasks', '{}', 'AUTOMATIC', 'OK', 1, 3, 0, '[]', now(), now() + interval '1 day', '{"notifications": {"problem": "it answered 500"}}')`.execute(
      db,
    );
    for (const [pod_name, minute] of [
      ['young', 5],
      ['zold', 1],
    ] as const) {
      const stop = { stop_held_since: new Date(at(minute)), stop_held_by: `no ${pod_name}` };
      await putWorker(db, { pod_name, status: 'running', ...stop });
    }

    for (const service of ['scheduler', 'ingress'] as const)
      await noteLife(db, service, { refusal: 'the file is refused' });
    const told = async (pool?: string) =>
      (await ask(listDiagnosesEndpoint, db, { pool })).items.map(
        ({ sentence, jobs }) => `${jobs} ${sentence}`,
      );
    expect(await told()).toEqual([
      '0 GitHub does not answer: timed out.',
      '1 ada holds back the making of workers of the pool gpu: new image.',
      LINUX[0],
      '0 An App lacks something: App 7: no webhook.',
      '0 Said by ingress, scheduler: the file is refused.',
      '0 Notifications do not arrive: it answered 500.',
      '0 2 workers do not go, zold for the longest: no zold.',
      '0 1 task waits, and no living process runs those of the kind upkeep.',
      ...LINUX.slice(1),
      '0 GitHub refuses what Paddock asks for the App 8: Bad key.',
      '0 The configuration has paused still.',
      '0 GitHub refuses what Paddock asks for 3 repositories: No.',
      '0 1 failed task waits for the next try, redeliver: no log.',
      '0 GitHub has Paddock wait with its calls for the App 7: Be slower.',
      '0 GitHub has Paddock wait with its calls for well: its budget is used up.',
      '0 bob holds back the making of workers for well.',
    ]);
    const [away, held, full, , , , stops] = await told();
    for (const [index, failure] of ['image_pull', 'pod_refused', 'image_pull'].entries()) {
      const job = await putJob(db, { k8s_pool: `failing-${index}`, repo_id: 9 });
      await putKey(db, job, 'workers_failing');
      await sql`update demand_keys set failures = 2, failure_class = ${failure}, failing_since = now(), failure_message = ${`says ${index}`}
        where demand_key = ${job.demand_key}`.execute(db);
    }
    const failing = (await told()).filter((sentence) => /^[1-9].*says/.test(sentence));
    expect(failing).toEqual([
      expect.stringMatching(
        /^2 In 2 pools; of the oldest job: .* the pool failing-0 .*: says 0\.$/,
      ),
      expect.stringMatching(/^1 Workers for \S+ in the pool failing-1 .*: says 1\.$/),
    ]);
    await db.deleteFrom('jobs').where('k8s_pool', 'like', 'failing-%').execute();
    expect(await told('gpu')).toEqual([away, held]);
    expect(await told('linux')).toEqual([away, full, stops, ...LINUX.slice(1)]);
    await expect(told('gpux')).rejects.toThrow('There is no pool of the name gpux.');
    const tried = (input: object) => ask(tryAgainEndpoint, db, { ...input, note: 'mended' });
    expect(await tried({ name: 'repository_refused' })).toEqual({ tried: 3 });
    expect(await tried({ name: 'workers_failing', pool: 'gpu' })).toEqual({ tried: 0 });
    for (const name of ['workers_failing', 'runner_group_open', 'installation_refused'])
      expect([name, await tried({ name })]).toEqual([name, { tried: 1 }]);
    expect(await tried({ name: 'tasks_asleep', kind: 'redeliver' })).toEqual({ tried: 1 });
    expect(await told()).not.toContainEqual(expect.stringContaining('next try'));
  });

  test('are none where the rows know of nothing, and one where there is no row', async () => {
    expect(await diagnose('well')).toEqual({ entity: { id: 2, login: 'well' }, items: [] });
    expect(await diagnose('nobody/nothing')).toMatchObject({
      entity: null,
      items: [{ name: 'not_installed', actor: 'platform' }],
    });
  });

  describe('of a repository’s selection', () => {
    let last = 100;
    type Told = readonly [event: string, minute: number, payload: object];
    /** Events in the order of their arrival, of an installation of their own. */
    const selectionAfter = async (events: readonly Told[]) => {
      last += 1;
      const login = `org-${last}`;
      await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, repository_selection, stated_at)
        values (${last}, 1001, ${last}, ${login}, 'Organization', 'selected', now())`.execute(
        database.db,
      );
      for (const [event, minute, payload] of events)
        await sql`insert into installation_events (source, event, outcome, app_id, installation_id, entity_id, payload)
          values ('webhook', ${event}, 'ok', 1001, ${last}, ${last}, ${JSON.stringify({ installation: { updated_at: at(minute) }, ...payload })})`.execute(
          database.db,
        );
      const names = await namesOf(`${login}/shop`);
      return names.find((name) => name.startsWith('repository_')) ?? 'selected';
    };
    const selected = { repository_selection: 'selected' };
    const shop = [{ id: 2, full_name: 'former-name/Shop' }];
    const created = (...repositories: object[]): Told => [
      'installation.created',
      0,
      { ...selected, repositories },
    ];
    const added = (minute: number): Told => [
      'installation_repositories.added',
      minute,
      { ...selected, repositories_added: shop },
    ];
    const removed = (minute: number): Told => [
      'installation_repositories.removed',
      minute,
      { ...selected, repositories_removed: shop },
    ];

    test.each<[string, readonly Told[], string]>([
      ['created with it', [created(...shop)], 'selected'],
      ['created without it', [created()], 'repository_not_selected'],
      ['added later', [created(), added(1)], 'selected'],
      ['removed before it was added, by late news', [added(2), removed(1)], 'selected'],
      ['removed in the second of its addition', [added(1), removed(1)], 'repository_not_selected'],
      [
        'removed, and created by late news',
        [removed(0), created(...shop)],
        'repository_not_selected',
      ],
      ['of which nothing is known', [], 'repository_maybe_not_selected'],
      [
        'of which all were selected at first, as the installation says',
        [['installation.created', 0, { installation: { repository_selection: 'all' } }]],
        'repository_maybe_not_selected',
      ],
      [
        'with lists that cannot be read',
        [['installation.created', 0, { repositories: 7 }]],
        'repository_not_selected',
      ],
    ])('an installation %s', async (_what, events, name) => {
      expect(await selectionAfter(events)).toBe(name);
    });
  });
});
