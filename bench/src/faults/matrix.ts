import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_SECRET } from './environment.ts';
import { type Beginning, type Fault, type Progress, together } from './fault.ts';
import type { Stage } from './stage.ts';

/** From one share of the queued jobs to another. */
type Window = readonly [from: number, to: number];
const FIRST_THIRD: Window = [0, 1 / 3];
const MIDDLE: Window = [1 / 3, 2 / 3];
const WHOLE: Window = [0, 1];

/** Something that is so within a window only; from its beginning on, it is so before the first job is queued. */
const within = (window: Window, start: (stage: Stage) => Promise<unknown>, end: (stage: Stage) => Promise<unknown>): Beginning => {
  const [from, to] = window;
  return async (stage, progress) => {
    if (from === 0) await start(stage);
    return async () => {
      if (from > 0) {
        await progress.reached(from);
        await start(stage);
      }
      await progress.reached(to);
      await end(stage);
    };
  };
};

const forEach = async ({ environments }: Stage, act: (environment: Stage['environments'][number]) => Promise<unknown>) =>
  void (await Promise.all(environments.map(act)));

const during =
  (act: (stage: Stage, progress: Progress) => Promise<void>): Beginning =>
  (stage, progress) =>
    Promise.resolve(() => act(stage, progress));

const ingressDown = (window: Window): Beginning =>
  within(
    window,
    (stage) => forEach(stage, ({ ingress }) => ingress.kill()),
    (stage) => forEach(stage, ({ ingress }) => ingress.start()),
  );

const signWith = (webhookSecret: string) => (stage: Stage) => forEach(stage, ({ appId }) => stage.github.setApp(appId, { webhookSecret }));

const wrongSecret = (window: Window): Beginning => within(window, signWith('not what ingress expects'), signWith(WEBHOOK_SECRET));

/** So many calls fail that the window ends before them. */
const ALL = 1_000_000;

/** 500, then 403 as for too many calls, then 429, each for a third of the middle of the run. */
const githubRefuses = during(async (stage, progress) => {
  const kinds = [
    { status: 500 },
    { status: 403, headers: { 'retry-after': '1' }, body: { message: 'You have exceeded a secondary rate limit.' } },
    { status: 429, headers: { 'retry-after': '1' }, body: { message: 'Too many requests.' } },
  ];
  for (const [index, kind] of kinds.entries()) {
    await progress.reached((3 + index) / 9);
    await stage.github.clearCallFaults();
    await stage.github.failNext({ path: '', times: ALL, ...kind });
  }
  await progress.reached(2 / 3);
  await stage.github.clearCallFaults();
});

const apiServerAway = within(
  MIDDLE,
  async ({ cluster }) => {
    await cluster.failNext({ times: ALL });
    await cluster.cutWatches();
  },
  ({ cluster }) => cluster.clearFaults(),
);

/** Twice, and the second time it stays away for a while. */
const postgresRestarts = during(async (stage, progress) => {
  for (const [share, awayMs] of [
    [1 / 3, 0],
    [2 / 3, progress.lastsMs / 6],
  ] as const) {
    await progress.reached(share);
    await stage.postgres.halt({ mode: 'immediate' });
    await sleep(awayMs);
    await stage.postgres.resume();
  }
});

const BETWEEN_KILLS_MS = 1_500;

/** One service after the other, so that each is killed every few seconds. */
async function killEach({ environments }: Stage): Promise<void> {
  for (const service of environments.flatMap(({ services }) => services)) {
    await service.kill();
    await service.start();
    await sleep(BETWEEN_KILLS_MS);
  }
}

const servicesKilled = ([from, to]: Window): Beginning =>
  during(async (stage, progress) => {
    await progress.reached(from);
    while (progress.share() < to) await killEach(stage);
  });

const lost: Fault = { name: 'deliveries-lost', deliveries: { lossRate: 0.2 } };
const shuffled: Fault = { name: 'deliveries-doubled-and-shuffled', deliveries: { duplicateRate: 0.2, delayMs: [0, 3_000] } };
const lies: Fault = {
  name: 'busy-lies',
  // Nobody is told that a job runs either, and it runs for longer than a worker may be idle: only its log says that it works.
  busyLies: true,
  deliveries: { dropActions: ['in_progress'] },
  jobMs: [12_000, 18_000],
};
const dying: Fault = { name: 'pods-fail', runners: { dieRate: 0.1 } };
const silent: Fault = { name: 'runners-never-register', runners: { silentRate: 0.1 } };
const cancelled: Fault = { name: 'jobs-cancelled', cancelShare: 0.3 };

/** What may go wrong, one row of the table each. */
export const FAULTS: readonly Fault[] = [
  { name: 'none' },
  lost,
  shuffled,
  { name: 'in-progress-lost', deliveries: { dropActions: ['in_progress'] } },
  { name: 'completed-lost', deliveries: { dropActions: ['completed'] } },
  { name: 'ingress-down', begin: ingressDown(FIRST_THIRD) },
  { name: 'wrong-secret', begin: wrongSecret(FIRST_THIRD) },
  { name: 'github-refuses', begin: githubRefuses },
  { name: 'api-server-away', begin: apiServerAway },
  { name: 'postgres-restarts', begin: postgresRestarts },
  { name: 'services-killed', begin: servicesKilled(WHOLE) },
  lies,
  { name: 'two-environments', environments: 2 },
  dying,
  silent,
  cancelled,
  together('everything', [
    lies,
    lost,
    { ...shuffled, deliveries: { ...shuffled.deliveries, dropActions: [] } },
    dying,
    silent,
    cancelled,
    { name: 'ingress-down', begin: ingressDown(FIRST_THIRD) },
    { name: 'wrong-secret', begin: wrongSecret(MIDDLE) },
    { name: 'github-refuses', begin: githubRefuses },
    { name: 'api-server-away', begin: apiServerAway },
    { name: 'postgres-restarts', begin: postgresRestarts },
    { name: 'services-killed', begin: servicesKilled([1 / 3, 1]) },
    { name: 'two-environments', environments: 2 },
  ]),
];
