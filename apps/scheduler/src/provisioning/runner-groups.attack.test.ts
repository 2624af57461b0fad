import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { sql } from 'kysely';
import { APP_ID } from '../scenes/settings.scene.ts';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const LINUX = { name: 'linux', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const DIND = { containerMode: 'dind' };
const FOR_API = { repositories: ['acme/api'] };

const world = useSchedulerWorld({ kubelet: false });
beforeAll(() => world.gitHub.addRepository({ owner: 'acme', name: 'web' }));
beforeEach(() => world.db.deleteFrom('runner_groups').execute());

/** Each test has another group, because a scheduler remembers GitHub's answer about one. */
let groups = 0;
const nextGroup = () => `group ${(groups += 1)}`;
const putPool = (more: object) =>
  world.putPools(poolsDocument.parse({ pools: [{ ...LINUX, ...more }], entities: { acme: {} } }));
const setGroup = (name: string, settings: object) =>
  world.gitHub.setRunnerGroup({ org: 'acme', name, ...settings });
/** Of a plan that has none; as the entity of a job. */
async function organizationWithoutGroups(login: string) {
  const { gitHub } = world;
  const { id } = await gitHub.addOrganization({ login, runnerGroups: false });
  const installation = await gitHub.install({ appId: APP_ID, account: login, announce: false });
  const repository = await gitHub.addRepository({ owner: login, name: 'api' });
  return {
    entity_id: id,
    entity_name: login,
    installation_id: installation.id,
    repo_id: repository.id,
    repo_full_name: `${login}/api`,
  };
}
const registered = async () => (await world.gitHub.truth()).runners.length;
const reasons = async () =>
  (await world.db.selectFrom('demand_keys').select('wait_reason').execute()).map(
    (row) => row.wait_reason,
  );
const kept = () => world.db.selectFrom('runner_groups').selectAll().executeTakeFirst();
const endGroupPauses = () =>
  world.db
    .updateTable('runner_groups')
    .set({ paused_until: sql`now()` })
    .execute();
const lists = async () =>
  (await world.gitHub.report()).calls['actions/list-self-hosted-runner-groups-for-org'] ?? 0;

test.each<[string, object, object, string]>([
  [
    'lets in public repositories beside a Docker daemon',
    DIND,
    { allowsPublicRepositories: true },
    'public repositories',
  ],
  [
    'lets in every repository',
    FOR_API,
    { visibility: 'all' },
    'repositories that are not selected',
  ],
  [
    'has selected another repository as well',
    FOR_API,
    { visibility: 'selected', repositories: ['acme/api', 'acme/web'] },
    'repositories that the pool does not serve (acme/web)',
  ],
  [
    'lets in public repositories, of entities that are named',
    { entities: ['acme'] },
    { allowsPublicRepositories: true },
    'public repositories',
  ],
])(
  'a runner group that %s gets no runner, and says why, until it is closed (C7, C11)',
  async (_what, more, settings, excess) => {
    const runnerGroup = nextGroup();
    await setGroup(runnerGroup, settings);
    await putPool({ ...more, runnerGroup });
    const before = await registered();
    for (let n = 0; n < 3; n += 1) await world.queueJob();
    await world.settle();
    await world.settle();

    expect(await registered()).toBe(before);
    // Each was reserved once, before the first look: no worker tries again and again.
    expect(
      (await world.workers()).map(({ status, stop_reason: reason }) => [status, reason]),
    ).toEqual(Array.from({ length: 3 }, () => ['failed', 'runner_group_open']));
    expect(await reasons()).toEqual(['runner_group_open']);
    const wayOut =
      'repositories' in more ? '' : '; write allowUntrusted: true in the pool if that is meant';
    expect((await kept())?.excess).toBe(
      `The runner group ${runnerGroup} lets in ${excess}${wayOut}`,
    );

    // Once the pause is over, one tries, and the group's access is read again.
    await endGroupPauses();
    await world.settle();
    expect(await registered()).toBe(before);
    expect(await world.workers()).toHaveLength(4);

    await setGroup(runnerGroup, { visibility: 'selected', repositories: ['acme/api'] });
    await world.db.deleteFrom('runner_groups').execute();
    await world.settle();
    expect(await registered()).toBe(before + 3);
    expect(await kept()).toMatchObject({
      visibility: 'selected',
      repositories: ['acme/api'],
      excess: null,
      paused_until: null,
    });
  },
);

test('where GitHub grants no runner groups, each entity has one try a pause (C7, C11)', async () => {
  await world.putPools(
    poolsDocument.parse({
      pools: [{ ...LINUX, ...DIND, runnerGroup: nextGroup() }],
      entities: { '*': {} },
    }),
  );
  const entities = [
    await organizationWithoutGroups('small'),
    await organizationWithoutGroups('tiny'),
  ];
  for (const row of entities) await world.queueJob({ row });
  const before = await registered();
  await world.settle(40);
  expect((await world.workers()).map(({ stop_reason: reason }) => reason)).toEqual([
    'runner_group_open',
    'runner_group_open',
  ]);
  expect(await world.db.selectFrom('runner_groups').select('entity_id').execute()).toHaveLength(2);

  await endGroupPauses();
  await world.settle(40);
  expect(await world.workers()).toHaveLength(4);

  // As an administrator does for a look at once.
  await world.db.deleteFrom('runner_groups').execute();
  await world.settle(40);
  expect(await world.workers()).toHaveLength(6);
  expect(await world.db.selectFrom('runner_groups').select('entity_id').execute()).toHaveLength(2);
  expect(await registered()).toBe(before);
});

test('a pool for all entities registers in such a group, and its access stays (C7)', async () => {
  const runnerGroup = nextGroup();
  await setGroup(runnerGroup, {
    allowsPublicRepositories: true,
    workflows: ['acme/api/.github/workflows/a.yaml@main'],
  });
  await putPool({ runnerGroup });
  const [before, asked] = [await registered(), await lists()];
  for (let n = 0; n < 3; n += 1) await world.queueJob();
  await world.settle();
  expect(await registered()).toBe(before + 3);
  expect(await kept()).toMatchObject({
    allows_public_repositories: true,
    workflows: ['acme/api/.github/workflows/a.yaml@main'],
    excess: `The runner group ${runnerGroup} lets in public repositories`,
    paused_until: null,
  });
  // Asked once for all, not once for each job.
  expect(await lists()).toBe(asked + 1);
});

test.each([
  [{}, 1],
  [FOR_API, 0],
])(
  'a group whose repositories GitHub does not show serves no pool of some repositories: %j',
  async (more, made) => {
    const runnerGroup = nextGroup();
    await setGroup(runnerGroup, { visibility: 'selected', repositories: ['acme/api'] });
    const refusal = { status: 403, body: { message: 'Resource not accessible by integration' } };
    await world.gitHub.failNext({
      path: 'runner-groups/[0-9]+/repositories$',
      ...refusal,
      times: 100,
    });
    await putPool({ ...more, runnerGroup });
    const before = await registered();
    await world.queueJob();
    await world.settle();
    expect(await registered()).toBe(before + made);
    expect(await kept()).toMatchObject({
      name: runnerGroup,
      visibility: 'selected',
      repositories: null,
    });
  },
);

test('a group for public repositories serves a pool with allowUntrusted, but not a pool of some repositories', async () => {
  const runnerGroup = nextGroup();
  await setGroup(runnerGroup, { allowsPublicRepositories: true });
  const before = await registered();
  await putPool({ ...DIND, runnerGroup, allowUntrusted: true });
  await world.queueJob();
  await world.settle();
  expect(await registered()).toBe(before + 1);
  await putPool({ ...FOR_API, name: 'linux', runnerGroup, allowUntrusted: true });
  await world.queueJob();
  await world.settle();
  expect(await registered()).toBe(before + 1);
});

test('a group that is made for a pool of some repositories is one of selected ones', async () => {
  const runnerGroup = nextGroup();
  await putPool({ ...FOR_API, runnerGroup });
  const before = await registered();
  await world.queueJob();
  await world.settle();
  expect(await registered()).toBe(before + 1);
  expect(await kept()).toMatchObject({ visibility: 'selected', repositories: [], excess: null });
});

test('a worker for an entity whose login is another one’s is not registered in a pool that names the login (C2)', async () => {
  const before = await registered();
  await world.putPools(
    poolsDocument.parse({ pools: [{ ...LINUX, entities: ['acme'] }], entities: { '*': {} } }),
  );
  await world.queueJob();
  await world.match();
  await world.db.insertInto('login_pins').values({ login: 'acme', entity_id: 1 }).execute();
  await world.runTasks();
  await world.db.deleteFrom('login_pins').execute();
  expect(await registered()).toBe(before);
  expect((await world.workers()).map(({ stop_reason: reason }) => reason)).toEqual(['pool_closed']);
});

test('a worker whose pool no longer serves its entity is not registered, and none follows it (C2)', async () => {
  const before = await registered();
  await putPool({});
  await world.queueJob();
  await world.match();
  await putPool({ entities: ['beta'] });
  await world.settle();
  await world.settle();
  expect(await registered()).toBe(before);
  expect((await world.workers()).map(({ status }) => status)).toEqual(['failed']);
  expect(await reasons()).toEqual(['pool_closed']);
});
