import { setTimeout as sleep } from 'node:timers/promises';
import type { RunnerFaults } from '@paddock/simulators/kube/runner-faults';
import { WEBHOOK_SECRET } from '../stage/environment.ts';
import type { Fault } from './fault.ts';
import { KILLS_OF_EACH, servicesKilled } from './kills.ts';
import { ONE_HIT } from './one-hit.ts';
import {
  cluster,
  each,
  github,
  hasStoredWait,
  haveRun,
  isRefusalStored,
  type Strike,
  strikes,
  together,
  until,
  untilComplained,
  untilFull,
} from './strikes.ts';
import { RIVAL } from './rival.ts';
import { DOTFILES, GARDEN } from './world.ts';

/** Pauses discovery: lost jobs must come back by redelivery. */
const LOOKS = ['discover-jobs', 'look-up-jobs'];
/** Nor does a schedule read the log of deliveries: a service must ask for it. */
const UNREAD = { reconciler: { redeliveryEverySeconds: 3_600 } };
/** Longer than it takes to stop an idle runner, even on a busy machine. */
const LONG = [18_000, 24_000] as const;
/**
 * GitHub calls a runner idle for its whole deadline while its job, as far as we know, waits. We
 * give the runner up for another one.
 */
const REPLACED = 1;
const REPEATED = { deliveriesRepeated: 1 };
const FIRST_THIRD = { from: 0, to: 1 / 3 };
const CLUSTER_AWAY = /The cluster has not answered since/;
const MIDDLE = { from: 1 / 3, to: 2 / 3 };

/** Redelivery repairs it, alone. */
const lossOf = (name: string, deliveries: Fault['deliveries']): Fault => ({
  name,
  signs: { deliveriesLost: 1, ...REPEATED },
  deliveries: { ...deliveries },
  heldSweeps: LOOKS,
});

const lost = lossOf('deliveries-lost', { lossRate: 0.2 });
const shuffled: Fault = {
  name: 'deliveries-doubled-and-shuffled',
  signs: { deliveriesDoubled: 1, deliveriesDelayed: 1 },
  // Shorter than the delays, so that many a job has ended before its beginning is announced.
  deliveries: { duplicateRate: 0.2, delayMs: [0, 3_000] },
  jobMs: [200, 500],
  heldSweeps: LOOKS,
};
const lies: Fault = {
  name: 'busy-lies',
  signs: { busyHidden: 1, deliveriesLost: 1 },
  // GitHub does not announce either that a job runs, and the job runs for longer than a worker may
  // be idle. Only its run and its log show that it works.
  busyLies: true,
  deliveries: { dropActions: ['in_progress'] },
  jobMs: LONG,
  heldSweeps: [...LOOKS, 'redeliver'],
  excess: REPLACED,
};
/**
 * GitHub never announces these jobs before they end. Discovery is paused until all others have run,
 * so only a runner's log shows which job it runs.
 */
const unheard: Fault = {
  name: 'busy-lies-about-unheard-jobs',
  signs: { busyHidden: 1, eventsNeverSent: 3 },
  busyLies: true,
  unannounced: true,
  deliveries: { omitActions: ['in_progress'] },
  jobMs: LONG,
  heldSweeps: LOOKS,
  excess: REPLACED,
  begin: strikes({
    from: 1,
    to: 1,
    until: [
      until(async ({ github: { report } }) => {
        const { jobs, completed, struck } = await report();
        return completed >= jobs - (struck.event_never_sent ?? 0);
      }, 'Some jobs that GitHub announced have not run.'),
    ],
    end: each(({ db }) => db.deleteFrom('switches').execute()),
  }),
};
/**
 * A quarter dies: half of them before they connect to GitHub, the others during their jobs, which
 * last longer than they do.
 */
const dying: Fault = {
  name: 'pods-fail',
  signs: { runnersDied: 1, runnersDiedAtStart: 1 },
  runners: { dieRate: 0.25 },
  jobMs: [1_000, 2_000],
};
const silent: Fault = {
  name: 'runners-never-register',
  signs: { runnersSilent: 1 },
  runners: { silentRate: 0.1 },
};
/**
 * At first so do all that start: their keys fail, and hold back jobs. Caps that silent runners reach
 * would hold them back before.
 */
const failing = (fault: Fault, runners: RunnerFaults): Fault => ({
  ...fault,
  board: /fail before they have a job/,
  atUsualTimes: true,
  begin: strikes({
    ...FIRST_THIRD,
    start: (stage) => stage.cluster.setRunnerFaults(runners),
    end: (stage) => stage.cluster.setRunnerFaults(fault.runners ?? {}),
  }),
});
const cancelled: Fault = {
  name: 'jobs-cancelled',
  signs: { jobsCancelledInQueue: 1 },
  cancelShare: 0.3,
};
const two: Fault = { name: 'two-environments', signs: { environmentsAtWork: 2 }, environments: 2 };

/** For a third of the middle of the run, and until a service has met it. */
const refusal = (nth: number, status: number, message?: string): Strike => ({
  from: (3 + nth) / 9,
  to: (4 + nth) / 9,
  ...github({
    path: '',
    status,
    ...(message === undefined ? {} : { headers: { 'retry-after': '2' }, body: { message } }),
  }),
  until: [
    until(
      async (stage) => ((await stage.github.report()).struck[`call_failed_${status}`] ?? 0) > 0,
      `No service has called GitHub while it answered ${status}.`,
    ),
    until(
      async ({ environments }) =>
        message === undefined ||
        (await Promise.all(environments.map(hasStoredWait))).includes(true),
      `No service has stored the wait that GitHub asked for with ${status}.`,
    ),
  ],
});
const refusing: Fault = {
  name: 'github-refuses',
  signs: { githubErrors: 1, githubRefusals: 1, githubLimits: 1 },
  board: /GitHub has (not answered since|asked Paddock to make no runners)/,
  atUsualTimes: true,
  begin: strikes(
    refusal(0, 500),
    refusal(1, 403, 'You have exceeded a secondary rate limit.'),
    refusal(2, 429, 'Too many requests.'),
  ),
};
/** Until a service has met it: killed services take time to come back. */
const away: Fault = {
  name: 'api-server-away',
  signs: { clusterCallsFailed: 1 },
  board: CLUSTER_AWAY,
  atUsualTimes: true,
  begin: strikes({
    ...MIDDLE,
    ...cluster({}),
    first: (stage) => stage.cluster.cutWatches(),
    until: [
      until(
        async (stage) => ((await stage.cluster.report()).struck.call_failed ?? 0) > 0,
        'No service has called the API server while it was away.',
      ),
    ],
  }),
};
const halted = (from: number, to: number): Strike => ({
  from,
  to,
  start: ({ postgres }) => postgres.halt({ mode: 'immediate' }),
  end: ({ postgres }) => postgres.resume(),
});
/** Twice, and the second time it stays away for a while. */
const restarted: Fault = {
  name: 'postgres-restarts',
  signs: { postgresRestarted: 1, deliveriesFailed: 1, ...REPEATED },
  atUsualTimes: true,
  heldSweeps: LOOKS,
  rules: UNREAD,
  begin: strikes(halted(1 / 3, 1 / 3), halted(2 / 3, 5 / 6)),
};

/** Longer than these services' leases of a task or of a row. */
const SILENT_MS = 12_000;
/** The tunnel holds back all data and closes no connection. */
const silenced = (name: string, end: Strike['end']): Fault => ({
  name,
  // Every service has connections, and logs that it has lost them.
  signs: { connectionsSilenced: 3, servicesComplained: 3 },
  isTunnelled: true,
  begin: strikes({
    from: 1 / 3,
    to: 1 / 3,
    start: ({ tunnel }) => Promise.resolve(tunnel?.setHeld(true)),
    until: [
      (stage) =>
        Promise.all([
          ...stage.environments.flatMap(({ services }) => services.map(untilComplained)),
          sleep(SILENT_MS),
        ]),
    ],
    ...(end === undefined ? {} : { end }),
  }),
});

const down: Fault = {
  name: 'ingress-down',
  signs: { servicesKilled: 1, deliveriesFailed: 1, ...REPEATED },
  atUsualTimes: true,
  heldSweeps: LOOKS,
  rules: UNREAD,
  lone: 1 / 6,
  begin: strikes({
    ...FIRST_THIRD,
    start: each(({ ingress }) => ingress.kill()),
    end: each(({ ingress }) => ingress.start()),
  }),
};
const signWith = (webhookSecret: string) =>
  each(({ appId }, stage) => stage.github.setApp(appId, { webhookSecret }));
const wronglySigned = (window: typeof MIDDLE): Fault => ({
  name: 'wrong-secret',
  signs: { deliveriesFailed: 1, ...REPEATED },
  heldSweeps: LOOKS,
  lone: (window.from + window.to) / 2,
  begin: strikes({
    ...window,
    start: signWith('not what ingress expects'),
    end: signWith(WEBHOOK_SECRET),
  }),
});
const killed = (from: number): Fault => ({
  name: 'services-killed',
  signs: { servicesKilled: 3 * KILLS_OF_EACH, tasksCrashed: 1 },
  atUsualTimes: true,
  // A starting service takes over what the killed one left; the sweep would do so a minute later.
  heldSweeps: ['recover-tasks'],
  begin: servicesKilled(from),
});

/** Of these in one run. If two set the same, the later one counts. */
const ALL_AT_ONCE: readonly Fault[] = [
  lies,
  lost,
  { ...shuffled, deliveries: { ...shuffled.deliveries, dropActions: [] } },
  { ...dying, signs: { runnersDied: 1 }, runners: { dieRate: 0.1 } },
  silent,
  cancelled,
  down,
  wronglySigned(MIDDLE),
  refusing,
  away,
  restarted,
  killed(1 / 3),
  two,
];
const everything: Fault = {
  ...Object.assign({}, ...ALL_AT_ONCE),
  name: 'everything',
  board: undefined,
  signs: Object.assign({}, ...ALL_AT_ONCE.map(({ signs }) => signs)),
  deliveries: Object.assign({}, ...ALL_AT_ONCE.map(({ deliveries }) => deliveries)),
  runners: Object.assign({}, ...ALL_AT_ONCE.map(({ runners }) => runners)),
  begin: together(ALL_AT_ONCE.flatMap(({ begin }) => begin ?? [])),
  // At worst, a killed process loses one wait for each App and entity.
  lostWaits: 3,
  stretch: 3,
  tightCaps: true,
  jobMs: LONG,
  rules: {},
  heldSweeps: [],
  // Two environments learn of most jobs minutes late.
  excess: 0.4,
  // Some of it needs cadences of seconds to come to its end.
  atUsualTimes: false,
};

/** The faults; each one is a row of the table. */
export const FAULTS: readonly Fault[] = [
  { name: 'none', signs: {}, excess: 0, tightCaps: true },
  // No alert may fire.
  { name: 'none-for-an-hour', signs: {}, excess: 0, atUsualTimes: true, betweenJobsMs: 1_000 },
  { name: 'events-never-sent', signs: { eventsNeverSent: 3 }, unannounced: true, lone: 1 },
  lost,
  shuffled,
  // GitHub also does not announce that a job has ended before its pod has. So a worker ends for a
  // job that, as far as we know, still waits.
  lossOf('in-progress-lost', { dropActions: ['in_progress'], delayMs: [1_000, 3_000] }),
  lossOf('completed-lost', { dropActions: ['completed'] }),
  down,
  wronglySigned(FIRST_THIRD),
  refusing,
  {
    name: 'github-hangs',
    signs: { githubCallsFailed: 1 },
    board: /GitHub has not answered since/,
    atUsualTimes: true,
    begin: strikes({ ...MIDDLE, ...github({ path: '', hang: true }) }),
  },
  {
    // Until the other repository of its entity has run all its jobs: the refusal is that of the
    // repository alone.
    name: 'repository-refuses',
    signs: { githubRefusals: 1 },
    board: /GitHub refuses to register runners at mona\/dotfiles/,
    begin: strikes({
      from: 0,
      to: 1,
      ...github({
        path: `^/repos/${DOTFILES}/`,
        status: 403,
        body: { message: 'Resource not accessible by integration' },
      }),
      until: [haveRun((repository) => repository === GARDEN), isRefusalStored],
    }),
  },
  away,
  {
    // Open watches continue.
    name: 'api-server-hangs',
    signs: { clusterCallsFailed: 1 },
    board: CLUSTER_AWAY,
    atUsualTimes: true,
    begin: strikes({ ...MIDDLE, ...cluster({ hang: true }) }),
  },
  restarted,
  // The data arrives late, after its senders have given up.
  silenced('postgres-goes-silent', ({ tunnel }) => Promise.resolve(tunnel?.setHeld(false))),
  // The data never arrives, and the open connections stay silent for ever.
  silenced('postgres-goes-silent-and-another-answers', ({ tunnel }) => {
    tunnel?.replaceServer();
    return Promise.resolve(tunnel?.setHeld(false));
  }),
  killed(0),
  lies,
  unheard,
  {
    // The jobs of others follow once that entity has all the workers that it may have, or all its
    // jobs have run. They live long enough that as many run at once as may.
    name: 'one-entity-first',
    signs: { environmentsAtCap: 1 },
    board: /maxWorkers of (acme|the pool linux) is/,
    oneFirst: true,
    tightCaps: true,
    excess: 0,
    jobMs: [3_000, 4_000],
    begin: strikes({ from: 1 / 3, to: 1 / 3, first: untilFull }),
  },
  ...ONE_HIT,
  RIVAL,
  two,
  failing(dying, { dieRate: 1, dieWithinMs: 0 }),
  failing(silent, { silentRate: 1 }),
  cancelled,
  everything,
];
