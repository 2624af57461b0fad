import { type Given, githubIsAway, passOf } from '../scenes/pass.scene.ts';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import type { GitHub } from '@paddock/github/connect';
import { playRunner } from '@paddock/simulators/github/play-runner';
import {
  installationOf,
  type SmallWorld,
  startSmallWorld,
} from '@paddock/simulators/scenes/small-world.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import { type Failed, putFailedWorker } from '../scenes/failed-workers.scene.ts';
import { ACME, TOOL } from '../scenes/stray-registrations.scene.ts';
import {
  removeRegistrations,
  type RemovedRegistrationsCounts,
  type RemoveRegistrationsOptions,
} from './remove-registrations.ts';

const database = useTestDatabase();
let world: SmallWorld;
let github: GitHub;
let leftBecause: string[];
let failures: string[];

beforeEach(async () => {
  await emptyTables(database.db, [
    'workers',
    'installation_events',
    'installations',
    'apps',
    'repositories',
  ]);
  world = await startSmallWorld();
  const waits = createWaits(database.dbOf('reconciler'), () => undefined);
  github = connectSmallWorld(world, { waits });
  leftBecause = [];
  failures = [];
});
afterEach(() => world.github.stop());

const sweep = async ({
  dryRun = false,
  pass = {},
  ...more
}: Given<RemoveRegistrationsOptions> = {}): Promise<RemovedRegistrationsCounts> =>
  removeRegistrations(
    {
      db: database.dbOf('reconciler'),
      github,
      events: {
        registrationRemoved: () => undefined,
        registrationLeft: (_name, why) => void leftBecause.push(why),
        registrationNotChecked: (_name, failure) =>
          void failures.push(failure?.kind ?? 'invisible'),
      },
      graceMs: 600_000,
      cap: 50,
      ...more,
    },
    await passOf(database.dbOf('reconciler'), { isAway: githubIsAway(github), dryRun, ...pass }),
  );

const putFailed = (failed: Failed = {}) =>
  putFailedWorker({ db: database.db, world, github }, failed);

/** A list of runners that is empty by surprise. */
const NO_RUNNERS = { status: 200, body: { total_count: 0, runners: [] } };

/** A worker that lives and is registered, as its row says. */
const putAlive = () =>
  putWorker(database.db, {
    status: 'running',
    running_at: minutesAgo(1),
    registered_at: minutesAgo(2),
    app_id: world.appId,
    installation_id: world.organization.installationId,
    entity_id: world.organization.id,
  });

const runners = async () => (await world.github.truth()).runners.map(({ name }) => name);
const marked = async () =>
  (
    await database.db
      .selectFrom('workers')
      .select('pod_name')
      .where('registration_gone_at', 'is not', null)
      .execute()
  ).map((row) => row.pod_name);

describe('registrations that failed workers left (E6)', () => {
  test.each([
    ['an organisation', ACME, true],
    ['an organisation, whose id we were never told', ACME, false],
    ['a repository', TOOL, true],
    ['a repository, whose id we were never told', TOOL, false],
  ])('of %s are removed after the grace', async (_name, scope, told) => {
    const { name } = await putFailed({ scope, told });
    const young = await putFailed({ scope, minutes: 9 });
    expect(await sweep()).toEqual({ removed: 1, absent: 0, left: 0, failed: 0 });
    expect(await runners()).toEqual([young.name]);
    expect(await marked()).toEqual([name]);
    expect(await sweep()).toEqual({ removed: 0, absent: 0, left: 0, failed: 0 });
  });

  test('that GitHub no longer knows are noted as gone', async () => {
    const { name } = await putFailed({ registered: false });
    expect(await sweep()).toEqual({ removed: 0, absent: 1, left: 0, failed: 0 });
    expect(await marked()).toEqual([name]);
  });

  test('are looked up by their id: no list that is empty by mistake makes them gone (E6)', async () => {
    await putFailed({ told: true });
    await world.github.failNext({
      method: 'GET',
      path: '/orgs/acme/actions/runners$',
      ...NO_RUNNERS,
    });
    expect(await sweep()).toEqual({ removed: 1, absent: 0, left: 0, failed: 0 });
  });

  test('whose id we were never told are not gone where GitHub lists no runner although workers are registered (E6)', async () => {
    const names = [(await putFailed()).name, (await putFailed()).name];
    await putAlive();
    await world.github.failNext({
      method: 'GET',
      path: '/orgs/acme/actions/runners$',
      times: 3,
      ...NO_RUNNERS,
    });
    expect(await sweep()).toEqual({ removed: 0, absent: 0, left: 2, failed: 0 });
    expect(leftBecause).toEqual(
      Array(2).fill('GitHub lists no runners although some are registered'),
    );
    expect(await marked()).toEqual([]);
    expect(await sweep()).toMatchObject({ removed: 2 });
    expect((await marked()).toSorted()).toEqual(names.toSorted());
  });

  test('are left alone while their runner is online, idle or at work (P2)', async () => {
    const { name, jitConfig } = await putFailed();
    const stop = new AbortController();
    const playing = playRunner(jitConfig, stop.signal);
    const stateIs = (state: string) => async () =>
      (await world.github.truth()).runners.some((runner) => runner.state === state);
    await waitFor('the runner to be online', stateIs('idle'));
    expect(await sweep()).toMatchObject({ left: 1, removed: 0 });
    await world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 60_000 });
    await waitFor('the runner to work', stateIs('busy'));
    expect(await sweep()).toMatchObject({ left: 1, removed: 0 });
    expect(await runners()).toEqual([name]);
    expect(leftBecause).toEqual(['the runner is online', 'the runner is online']);
    stop.abort();
    await playing;
  });

  test('of another instance are not touched, even with a row here (A8)', async () => {
    const { name } = await putFailed({ podName: 'pdk-zzzzzz-linux-000000000001' });
    expect(await sweep()).toEqual({ removed: 0, absent: 0, left: 0, failed: 0 });
    expect(await runners()).toEqual([name]);
  });

  test('are found under the entity’s and the installation’s names of today (A12)', async () => {
    await putFailed({ login: 'acme-as-it-was', installationId: 999_999 });
    await putInstallation(database.db, installationOf(world.organization));
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  test('are found in a repository that was renamed (A12)', async () => {
    await putFailed({ scope: TOOL });
    await world.github.renameRepository('mona/tool', 'spanner');
    expect(await sweep()).toMatchObject({ removed: 1 });
  });

  test('are only counted by a dry run, and a refusal leaves no row', async () => {
    const { name } = await putFailed();
    await putFailed({ registered: false });
    const [before, operation] = [
      await world.github.report(),
      'actions/delete-self-hosted-runner-from-org',
    ];
    expect(await sweep({ dryRun: true })).toEqual({ removed: 1, absent: 1, left: 0, failed: 0 });
    expect((await world.github.report()).calls[operation]).toBe(before.calls[operation]);
    await world.github.uninstall(world.organization.installationId);
    expect(await sweep({ dryRun: true })).toMatchObject({ failed: 2 });
    expect(await runners()).toEqual([name]);
    expect(await marked()).toEqual([]);
    expect(await database.db.selectFrom('installation_events').select('event').execute()).toEqual(
      [],
    );
  });

  test('are removed up to the cap of a pass', async () => {
    for (let index = 0; index < 3; index++) await putFailed();
    expect(await sweep({ cap: 2 })).toMatchObject({ removed: 2 });
    expect(await runners()).toHaveLength(1);
    expect(await sweep({ cap: 2 })).toMatchObject({ removed: 1 });
  });

  test('of an entity that refuses us cost one call at a time and one event row; others go on (C9)', async () => {
    const { id: entityId, installationId } = world.organization;
    await putInstallation(database.db, {
      entity_id: entityId,
      app_id: world.appId,
      installation_id: installationId,
    });
    await putFailed();
    await putFailed({ told: true });
    const mona = await putFailed({ scope: TOOL });
    await world.github.uninstall(world.organization.installationId);
    // The first call shows that the token is refused, the second that there is no other.
    expect(await sweep()).toEqual({ removed: 1, absent: 0, left: 0, failed: 2 });
    expect(await marked()).toEqual([mona.name]);
    expect(failures).toHaveLength(2);
    expect(await sweep()).toEqual({ removed: 0, absent: 0, left: 0, failed: 0 });
    const events = await database.db
      .selectFrom('installation_events')
      .select(['source', 'event', 'entity_id'])
      .execute();
    expect(events).toEqual([
      {
        source: 'reconciler',
        event: expect.stringMatching(/^auth_attempt\./),
        entity_id: world.organization.id,
      },
    ]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'are all gone after later passes when call %d to GitHub fails',
    async (after) => {
      const names = [
        (await putFailed({ told: true })).name,
        (await putFailed({ scope: TOOL })).name,
      ];
      await world.github.failNext({ path: '/', status: 502, after });
      await sweep();
      await world.github.clearFaults();
      await sweep();
      expect((await marked()).toSorted()).toEqual(names.toSorted());
      expect(await runners()).toEqual([]);
    },
  );

  test('are noted as gone by the next pass when the answer to a removal was lost', async () => {
    const { name } = await putFailed();
    await world.github.failNext({ method: 'DELETE', path: '/actions/runners/', afterCommit: true });
    expect(await sweep()).toMatchObject({ failed: 1 });
    expect(await sweep()).toMatchObject({ absent: 1 });
    expect(await marked()).toEqual([name]);
  });
});
