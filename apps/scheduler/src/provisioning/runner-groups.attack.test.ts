import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { sql } from 'kysely';
import { addEntity } from '../scenes/entities.scene.ts';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const LINUX = { name: 'linux', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const DIND = { containerMode: 'dind' };
const FOR_API = { repositories: ['acme/api'] };
const ONLY_API = { visibility: 'selected', repositories: ['acme/api'] };
const PUBLIC = { allowsPublicRepositories: true };

const world = useSchedulerWorld({ kubelet: false });
beforeAll(() => world.gitHub.addRepository({ owner: 'acme', name: 'web' }));
let before: number;
beforeEach(async () => {
  await forgetGroups();
  before = (await world.gitHub.truth()).runners.length;
});

/** Each test has another group, because a scheduler remembers GitHub's answer about one. */
let groups = 0;
const nextGroup = async (settings?: object) => {
  const name = `group ${(groups += 1)}`;
  if (settings !== undefined) await setGroup(name, settings);
  return name;
};
const setGroup = (name: string, settings: object) =>
  world.gitHub.setRunnerGroup({ org: 'acme', name, ...settings });
const putPool = (more: object, entities: object = { acme: {} }) =>
  world.putPools(poolsDocument.parse({ pools: [{ ...LINUX, ...more }], entities }));
const queueAndSettle = async (jobs = 1) => {
  await world.queueJobs(jobs);
  await world.settle();
};
const lists = async () =>
  (await world.calls())['actions/list-self-hosted-runner-groups-for-org'] ?? 0;
/** In this test. */
const registered = async () => (await world.gitHub.truth()).runners.length - before;
const ends = async () =>
  (await world.workers()).map(({ status, stop_reason: reason }) => [status, reason]);
const kept = () => world.db.selectFrom('runner_groups').selectAll().execute();
/** As an administrator does for a look at once. */
const forgetGroups = () => world.db.deleteFrom('runner_groups').execute();
const endGroupPauses = () =>
  world.db
    .updateTable('runner_groups')
    .set({ paused_until: sql`now()` })
    .execute();

test.each<[string, object, object, string]>([
  ['lets in public repositories beside a Docker daemon', DIND, PUBLIC, 'public repositories'],
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
    PUBLIC,
    'public repositories',
  ],
])(
  'a runner group that %s gets no runner, and says why, until it is closed (C7, C11)',
  async (_what, more, settings, excess) => {
    const runnerGroup = await nextGroup(settings);
    await putPool({ ...more, runnerGroup });
    await queueAndSettle(3);
    await world.settle();
    expect(await registered()).toBe(0);
    // Each was reserved once, before the first look: no worker tries again and again.
    expect(await ends()).toEqual(Array.from({ length: 3 }, () => ['failed', 'runner_group_open']));
    expect(await world.reasons()).toEqual(['runner_group_open']);
    const wayOut =
      'repositories' in more ? '' : '; write allowUntrusted: true in the pool if that is meant';
    expect(await kept()).toMatchObject([
      { excess: `The runner group ${runnerGroup} lets in ${excess}${wayOut}` },
    ]);

    // Once the pause is over, one tries, and the group's access is read again.
    await endGroupPauses();
    await world.settle();
    expect([await registered(), await ends()]).toMatchObject([0, { length: 4 }]);

    await setGroup(runnerGroup, ONLY_API);
    await forgetGroups();
    await world.settle();
    expect(await registered()).toBe(3);
    expect(await kept()).toMatchObject([{ ...ONLY_API, excess: null, paused_until: null }]);
  },
);

test('where GitHub grants no runner groups, each entity has one try a pause (C7, C11)', async () => {
  await putPool({ ...DIND, runnerGroup: await nextGroup() }, { '*': {} });
  for (const login of ['small', 'tiny']) {
    const organization = { runnerGroups: false };
    await world.queueJob({}, await addEntity(world.gitHub, login, ['api'], organization));
  }
  for (const [tries, act] of [
    [2, () => Promise.resolve()],
    [4, endGroupPauses],
    [6, forgetGroups],
  ] as const) {
    await act();
    await world.settle(40);
    expect(await ends()).toEqual(
      Array.from({ length: tries }, () => ['failed', 'runner_group_open']),
    );
    expect(await kept()).toHaveLength(2);
  }
  expect(await registered()).toBe(0);
});

test('a pool for all entities registers in such a group, whose access stays and is asked for once (C7)', async () => {
  const workflows = ['acme/api/.github/workflows/a.yaml@main'];
  const runnerGroup = await nextGroup({ ...PUBLIC, workflows });
  await putPool({ runnerGroup });
  const asked = await lists();
  await queueAndSettle(3);
  expect([await registered(), await lists()]).toEqual([3, asked + 1]);
  expect(await kept()).toMatchObject([
    {
      allows_public_repositories: true,
      workflows,
      excess: `The runner group ${runnerGroup} lets in public repositories`,
      paused_until: null,
    },
  ]);
});

test.each([
  [{}, 1],
  [FOR_API, 0],
])(
  'a group whose repositories GitHub does not show serves no pool of some repositories: %j',
  async (more, made) => {
    const runnerGroup = await nextGroup(ONLY_API);
    const refusal = { status: 403, body: { message: 'Resource not accessible by integration' } };
    const path = 'runner-groups/[0-9]+/repositories$';
    await world.gitHub.failNext({ path, ...refusal, times: 100 });
    await putPool({ ...more, runnerGroup });
    await queueAndSettle();
    expect(await registered()).toBe(made);
    expect(await kept()).toMatchObject([
      { name: runnerGroup, visibility: 'selected', repositories: null },
    ]);
  },
);

test('a group for public repositories serves a pool with allowUntrusted, but not a pool of some repositories', async () => {
  const open = { runnerGroup: await nextGroup(PUBLIC), allowUntrusted: true };
  for (const pool of [DIND, FOR_API]) {
    await putPool({ ...pool, ...open });
    await queueAndSettle();
    expect(await registered()).toBe(1);
  }
});

test('a group that is made for a pool of some repositories is one of selected ones', async () => {
  await putPool({ ...FOR_API, runnerGroup: await nextGroup() });
  await queueAndSettle();
  expect(await registered()).toBe(1);
  expect(await kept()).toMatchObject([{ visibility: 'selected', repositories: [], excess: null }]);
});

describe('a worker whose pool no longer serves its entity is not registered (C2)', () => {
  test('because its login is another one’s', async () => {
    await putPool({ entities: ['acme'] }, { '*': {} });
    await world.reserve();
    await world.db.insertInto('login_pins').values({ login: 'acme', entity_id: 1 }).execute();
    await world.runTasks();
    await world.db.deleteFrom('login_pins').execute();
    expect([await registered(), await ends()]).toEqual([0, [['failed', 'pool_closed']]]);
  });

  test('because the pool names others, and none follows it', async () => {
    await putPool({});
    await world.reserve();
    await putPool({ entities: ['beta'] });
    await world.settle();
    expect([await registered(), await world.reasons()]).toEqual([0, ['pool_closed']]);
    expect((await world.workers()).map(({ status }) => status)).toEqual(['failed']);
  });
});
