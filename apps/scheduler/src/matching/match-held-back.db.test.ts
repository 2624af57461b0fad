import { beforeEach, describe, expect, test } from '@jest/globals';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { createWaits, noteRegistrationBudget } from '@paddock/db/entities/waits';
import { saveRunnerGroup } from '@paddock/db/matching/stored-rules';
import { noteAway } from '@paddock/db/outages';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { type PodState, recordPodStates } from '@paddock/db/workers/worker-pods';
import { minutesAgo, putInstallation, putPools, putWorker } from '@paddock/testing/demand-rows';
import { ACME, GLOBEX, HOOLI, useMatching } from '../scenes/matching.scene.ts';

const GPU = { name: 'gpu', labels: ['gpu'] };
const scene = useMatching({ pools: [{}, GPU] });

const OTHER_APP = { app_id: 1002, installation_id: 52 };
const CALL = { appId: 1001, entityId: ACME.entity_id, installationId: 51_000_001, login: 'acme' };
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);

const pools = (linux: object, entities?: object) =>
  putPools(scene.db, { pools: [linux, GPU], ...(entities && { entities }) });
const installed = (given: object) =>
  scene.db.updateTable('installations').set(given).where('login', '=', 'acme').execute();
const busy = async (count: number, given: object) => {
  for (let n = 0; n < count; n += 1)
    await putWorker(scene.db, { ...given, assigned_at: new Date(), pod_uid: `uid-${n}` });
};
const refuse = (operation: string, kind = 'forbidden', repoId = 0) =>
  recordRefusal(scene.db, 'scheduler', {
    call: { ...CALL, repoId },
    refusal: { kind, operation, message: 'no' },
  });
const JIT = 'POST /orgs/a/actions/runners/generate-jitconfig';
const askToWait = (resource?: string) =>
  createWaits(scene.db, () => undefined).note(CALL, {
    ms: 60_000,
    message: 'slow down',
    ...(resource !== undefined && { resource }),
  });
const budget = (remaining: number, given: object = {}) => {
  const of = { installationId: CALL.installationId, resetAt: IN_AN_HOUR };
  return noteRegistrationBudget(scene.db, { ...of, remaining, ...given });
};
interface Rest {
  /** How many workers acme has then; 0 unless given. */
  readonly left?: number;
  /** Whose jobs are held back as well. */
  readonly holds?: 'the pool' | 'all';
  /** The columns of acme's jobs. */
  readonly job?: object;
}

const POOL = { holds: 'the pool' } as const;
const ALL = { holds: 'all' } as const;
const SCOPED = { job: { scope_repo_id: 21, repo_id: 21 } };

/** While acme has three jobs in `linux`, and globex two there and one in `gpu`. */
const CASES: readonly (readonly [string, reason: string, () => Promise<unknown>, Rest?])[] = [
  ['the cap of the pool was lowered', 'at_pool_cap', () => pools({ maxWorkers: 0 }), POOL],
  [
    'the cap of the entity was lowered',
    'at_entity_cap',
    () => pools({}, { acme: { maxWorkers: 1 }, '*': {} }),
    { left: 1 },
  ],
  [
    'the common cap binds, which counts workers with jobs, and none of named entities',
    'at_common_cap',
    async () => {
      await scene.pin('globex', GLOBEX.entity_id);
      await pools({}, { globex: {}, '*': { maxWorkers: null, commonMaxWorkers: 3 } });
      await busy(2, { ...HOOLI, ...OTHER_APP });
      await busy(6, { ...GLOBEX, ...OTHER_APP });
    },
    { left: 1 },
  ],
  [
    'the cap of each repository was lowered',
    'at_repository_cap',
    () => pools({ registration: 'repository', maxWorkersPerRepository: 1 }),
    { left: 1, ...SCOPED },
  ],
  ['the pool is paused', 'pool_paused', () => pools({ paused: true }), POOL],
  ['the pool serves others', 'pool_closed', () => pools({ entities: ['globex'] })],
  ['the entity is configured no more', 'entity_not_allowed', () => pools({}, { globex: {} })],
  [
    'no pools are loaded',
    'pool_unknown',
    () => scene.db.deleteFrom('pools_documents').execute(),
    ALL,
  ],
  [
    'a person stops the making for the environment',
    'making_stopped',
    () => setSwitch(scene.db, 'environment', 'ada'),
    ALL,
  ],
  [
    'a person stops the making for the pool',
    'making_stopped',
    () => setSwitch(scene.db, 'pool:linux', 'ada'),
    POOL,
  ],
  [
    'a person stops the making for the entity',
    'making_stopped',
    () => setSwitch(scene.db, 'entity:90000001', 'ada'),
  ],
  ['GitHub asks it to wait in all calls', 'github_budget', () => askToWait()],
  [
    'GitHub asks it to wait in registrations',
    'github_budget',
    () => askToWait('actions_runner_registration'),
  ],
  [
    'GitHub lets its installation of today register none, whichever its jobs name',
    'github_budget',
    async () => {
      await installed({ installation_id: 51_000_008 });
      await budget(0, { installationId: 51_000_008 });
    },
  ],
  [
    'GitHub refuses its App',
    'installation_refused',
    () => refuse('POST /app/installations/1/access_tokens', 'unauthorized'),
  ],
  ['GitHub refuses the entity', 'installation_refused', () => refuse(JIT)],
  [
    'GitHub refuses the repository',
    'repository_refused',
    () => refuse('POST /repos/a/b/actions/runners/generate-jitconfig', 'forbidden', 21),
    SCOPED,
  ],
  [
    'GitHub knows no such repository',
    'repository_gone',
    () => refuse('GET /repositories/21', 'not_found', 21),
    SCOPED,
  ],
  [
    'its App is suspended, and another there is not configured',
    'installation_suspended',
    async () => {
      await installed({ suspended_at: new Date() });
      await putInstallation(scene.db, { app_id: 999, installation_id: 999 });
    },
  ],
  ['the App was deleted there', 'installation_gone', () => installed({ deleted_at: new Date() })],
  ['its App is configured no more', 'app_not_configured', () => installed({ app_id: 999 })],
  ['its workers fail', 'workers_failing', () => scene.fail(ACME)],
];

const arrange = async (job?: object) => {
  await putInstallation(scene.db);
  const { entity_id, entity_name: login } = GLOBEX;
  await putInstallation(scene.db, { entity_id, login, ...OTHER_APP });
  await scene.putJobs(3, { ...ACME, ...job });
  await scene.putJobs(2, { ...GLOBEX, ...OTHER_APP });
  await scene.putJobs(1, { ...GLOBEX, ...OTHER_APP, k8s_pool: 'gpu' });
};
const held = (reason: string, { left = 0, holds }: Rest) => {
  const key = (usual: number, isHeld: boolean) => (isHeld ? [0, reason] : [usual, null]);
  return [
    ['acme', 'linux', left, reason],
    ['globex', 'gpu', ...key(1, holds === 'all')],
    ['globex', 'linux', ...key(2, holds !== undefined)],
  ];
};

describe('an entity’s jobs (C4, C9, C11, C12, P5, P6)', () => {
  describe.each([
    ['none is made', 0],
    ['reservations go back', 6],
  ])('%s', (_result, reserved) => {
    test.each(CASES)('because %s, and the key says %s', async (_what, reason, act, rest = {}) => {
      await arrange(rest.job);
      expect(reserved === 0 ? 0 : await scene.matchAll()).toBe(reserved);
      await act();
      await scene.matchAll();
      expect(await scene.keys()).toEqual(held(reason, rest));
    });
  });

  test.each([
    ['GitHub is away', 'github', 'github_unavailable'],
    ['the cluster is away', 'default', 'cluster_unavailable'],
  ])('while %s none is made, and reservations stay', async (_what, service, reason) => {
    await arrange();
    await scene.match({ most: 2 });
    await noteAway(scene.db, service, 'no answer');
    await scene.matchAll();
    expect((await scene.keys()).map(([, , , why]) => why)).toEqual([reason, reason, reason]);
    expect(await scene.alive()).toHaveLength(2);
  });
});

describe('what GitHub lets an installation register (C4, P4)', () => {
  beforeEach(() => putInstallation(scene.db));

  test('counts workers before their registration, and binds until it is full again', async () => {
    await scene.putJobs(5, ACME);
    await budget(3);
    expect(await scene.matchAll({ most: 2 })).toBe(3);
    expect(await scene.keys()).toEqual([['acme', 'linux', 3, 'github_budget']]);
    await installed({ registrations_left: 0, registrations_reset_at: minutesAgo(1) });
    expect(await scene.matchAll()).toBe(2);
  });

  test('is the lowest figure of the newest window, when answers come in any order', async () => {
    const [earlier, later] = [new Date('2026-01-01T01:00:00Z'), new Date('2026-01-01T02:00:00Z')];
    const answers = [
      [7, earlier],
      [9, later],
      [8, later],
    ] as const;
    const columns = ['registrations_left', 'registrations_reset_at'] as const;
    for (const order of [answers, answers.toReversed()]) {
      await scene.waits.forgetTold();
      for (const [remaining, resetAt] of order) await budget(remaining, { resetAt });
      expect(await scene.db.selectFrom('installations').select(columns).execute()).toEqual([
        { registrations_left: 8, registrations_reset_at: later },
      ]);
    }
  });

  test('is no more in a minute than its secondary limit, each installation for itself', async () => {
    const minuteAgo = new Date(Date.now() - 61_000);
    const match = () => scene.matchAll({ registrationsPerMinute: 3 });
    await scene.putJobs(5, ACME);
    await scene.putJobs(1, { ...GLOBEX, installation_id: 52 });
    expect(await match()).toBe(3 + 1);
    expect((await scene.keys())[0]).toEqual(['acme', 'linux', 3, 'github_budget']);
    // One that is given back, and those that may still be registered at any moment.
    const first = (await scene.alive()).find((one) => one.entity_name === 'acme');
    await scene.changeWorkers({ status: 'failed', completed_at: minuteAgo }, first?.pod_name);
    expect(await match()).toBe(1);
    await scene.changeWorkers({ created_at: minuteAgo });
    expect(await match()).toBe(0);
    await scene.changeWorkers({ registration_started_at: minuteAgo });
    expect(await match()).toBe(2);
  });
});

const GROUP = { entityId: ACME.entity_id, pool: 'linux', name: 'build' };
const OPEN_GROUP = { ...GROUP, access: undefined, excess: 'all', pauseMs: 60_000 };

test.each([
  ['the pause of a key', () => scene.fail(ACME)],
  ['a refusal of the App', () => refuse('GET /app', 'unauthorized')],
  ['a refusal of the entity', () => refuse(JIT)],
  ['a refusal of a repository', () => refuse('GET /repositories/21', 'not_found', 21)],
  ['a wait', () => askToWait()],
  ['a wait with registrations', () => askToWait('actions_runner_registration')],
  ['the rest of an open runner group', () => saveRunnerGroup(scene.db, OPEN_GROUP)],
])('a pass tells when %s ends, for the next one to come then (C1, C11)', async (_what, act) => {
  await putInstallation(scene.db);
  expect((await scene.match()).nextPauseEndMs).toBeNull();
  await act();
  const { nextPauseEndMs } = await scene.match();
  expect(nextPauseEndMs).toBeGreaterThan(0);
  expect(nextPauseEndMs).toBeLessThan(3_600_000);
  await scene.db.deleteFrom('runner_groups').execute();
});

test('one suspended App keeps no entity from its workers while another App works there (A12)', async () => {
  await putInstallation(scene.db);
  await putInstallation(scene.db, { ...OTHER_APP, suspended_at: new Date() });
  await scene.putJobs(2, ACME);
  expect(await scene.matchAll()).toBe(2);
});

test('an entity that GitHub refused has one worker once the time is over, and all others once that succeeds (C9, C11)', async () => {
  await putInstallation(scene.db);
  await scene.putJobs(3, ACME);
  await refuse(JIT);
  expect(await scene.matchAll()).toBe(0);
  await scene.waits.endRefusedTimes();
  expect(await scene.matchAll()).toBe(1);
  await scene.changeWorkers({ registration_started_at: new Date() });
  expect(await scene.matchAll()).toBe(0);
  await endRefusals(scene.db, CALL);
  expect(await scene.matchAll()).toBe(2);
});

test('of two Apps that GitHub refused, the first that may ask again has the one worker, or the next after its stop (C11)', async () => {
  const refused = {
    refused_since: minutesAgo(10),
    refused_reason: 'installation_refused',
  } as const;
  await putInstallation(scene.db, { ...refused, refused_until: minutesAgo(1) });
  await putInstallation(scene.db, { ...OTHER_APP, ...refused, refused_until: IN_AN_HOUR });
  await scene.putJobs(3, ACME);
  expect(await scene.matchAll()).toBe(1);
  await scene.changeWorkers({ registration_started_at: new Date() });
  expect(await scene.matchAll()).toBe(0);
  await scene.changeWorkers({ stopping_at: new Date(), stop_reason: 'drained' });
  expect(await scene.matchAll()).toBe(1);
});

const NO_TIMES = { runningAt: null, endedAt: null, terminatingAt: null, terminatingSeconds: null };
const NO_WORDS = { stuckReason: null, failureReason: null, endedBy: null, message: null };
const NO_FACTS = { node: null, exitCode: null, isRunnerOver: false, isUnschedulable: false };
const POD = { podCreatedAt: new Date(), phase: 'pending' as const, ...NO_TIMES, ...NO_WORDS };

test('a key has ten workers that no node takes, each since it was first seen so, and other keys all they lack (C4, C8)', async () => {
  const seen = async (given: Partial<PodState>) => {
    const states = (await scene.alive()).map(({ pod_name: podName }) =>
      Object.assign({ podName, podUid: podName }, POD, NO_FACTS, given),
    );
    return (await recordPodStates(scene.db, states, 60_000)).changed;
  };
  const since = async () => (await scene.workers()).map((worker) => worker.unschedulable_at);
  await scene.putJobs(7, ACME);
  for (let n = 0; n < 7; n += 1)
    await putWorker(scene.db, { registration_started_at: new Date(), created_at: minutesAgo(5) });
  expect(await scene.matchAll()).toBe(0);
  await seen({ isUnschedulable: true });
  expect(await scene.matchAll()).toBe(0);
  expect(await scene.keys()).toEqual([['acme', 'linux', 7, 'no_capacity']]);
  const first = await since();
  expect(await seen({ isUnschedulable: true })).toEqual([]);
  expect(await since()).toEqual(first);

  await scene.putJobs(5, ACME);
  await scene.putJobs(5, GLOBEX);
  expect(await scene.matchAll()).toBe(3 + 5);
  expect(await scene.keys()).toEqual([
    ['acme', 'linux', 10, 'no_capacity'],
    ['globex', 'linux', 5, null],
  ]);
  await seen({ node: 'n1' });
  expect(new Set(await since())).toEqual(new Set([null]));
});

test('reasons are kept with their times when they change, and written at no other pass (P5)', async () => {
  const sinceNow = async () =>
    (await scene.db.selectFrom('demand_keys').select('wait_since').executeTakeFirst())?.wait_since;
  const changes = () =>
    scene.db
      .selectFrom('wait_reason_changes')
      .select(['reason', 'since', 'until'])
      .orderBy('until')
      .execute();
  await pools({ maxWorkers: 0 });
  await scene.putJobs(1, ACME);
  await scene.match();
  const since = await sinceNow();
  await scene.putJobs(1, ACME);
  await scene.match();
  expect(await changes()).toEqual([]);

  await setSwitch(scene.db, 'environment', 'ada');
  await scene.match();
  const until = await sinceNow();
  const first = { reason: 'at_pool_cap', since, until };
  expect(await changes()).toEqual([first]);

  await liftSwitch(scene.db, 'environment');
  await pools({});
  await scene.match();
  await scene.match();
  expect(await changes()).toEqual([
    first,
    { reason: 'making_stopped', since: until, until: expect.any(Date) },
  ]);
});
