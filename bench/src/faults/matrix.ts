import {
  ingressDown,
  wrongSecret,
  githubRefuses,
  oneEntityFirst,
  githubHangs,
  apiServerHangs,
  repositoryRefuses,
  apiServerAway,
  postgresRestarts,
  postgresSilent,
  heardAgain,
  replaced,
  unlookedFor,
} from './beginnings.ts';
import { ONE_HIT } from './one-hit.ts';
import { schedulerKilled } from './scheduler-killed.ts';
import { KILLS_OF_EACH, servicesKilled } from './services-killed.ts';
import { FIRST_THIRD, MIDDLE, WHOLE, type Window } from './windows.ts';
import { type Fault, together } from './fault.ts';

/** Pauses discovery: lost jobs must come back by redelivery. */
const LOOKS = ['discover-jobs', 'look-up-jobs'];
/**
 * One job is announced by its own delivery alone, so it shows whether that delivery is repeated.
 * Other jobs become known when they begin.
 */
const middleOf = ([from, to]: Window): number => (from + to) / 2;
/** Nor does a schedule read the log of deliveries: a service must ask for it. */
const UNREAD = { reconciler: { redeliveryEverySeconds: 3_600 } };

/** Longer than it takes to stop an idle runner, even on a busy machine. */
const LONG = [18_000, 24_000] as const;

/**
 * GitHub calls a runner idle for its whole deadline while its job, as far as we know, waits. We
 * give the runner up for another one.
 */
const REPLACED = 1;

const lost: Fault = {
  name: 'deliveries-lost',
  signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
  deliveries: { lossRate: 0.2 },
  heldSweeps: LOOKS,
};
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
 * GitHub never announces these jobs before they end, and discovery is paused. Only a runner's log
 * shows which job it runs.
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
  begin: unlookedFor,
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
  tightCaps: true,
};
const cancelled: Fault = {
  name: 'jobs-cancelled',
  signs: { jobsCancelledInQueue: 1 },
  cancelShare: 0.3,
};

const refusing: Fault = {
  name: 'github-refuses',
  signs: { githubErrors: 1, githubRefusals: 1, githubLimits: 1 },
  atUsualTimes: true,
  begin: githubRefuses,
};
const hanging: Fault = {
  name: 'github-hangs',
  signs: { githubCallsFailed: 1 },
  atUsualTimes: true,
  begin: githubHangs,
};
const shut: Fault = {
  name: 'repository-refuses',
  signs: { githubRefusals: 1 },
  begin: repositoryRefuses,
};
const away: Fault = {
  name: 'api-server-away',
  signs: { clusterCallsFailed: 1 },
  atUsualTimes: true,
  begin: apiServerAway,
};
const stalled: Fault = {
  name: 'api-server-hangs',
  signs: { clusterCallsFailed: 1 },
  atUsualTimes: true,
  begin: apiServerHangs,
};
const restarted: Fault = {
  name: 'postgres-restarts',
  signs: { postgresRestarted: 1, deliveriesFailed: 1, deliveriesRepeated: 1 },
  atUsualTimes: true,
  heldSweeps: LOOKS,
  rules: UNREAD,
  begin: postgresRestarts,
};
/** Every service has connections, and logs that it has lost them. */
const silentSigns = { connectionsSilenced: 3, servicesComplained: 3 };
const silence: Fault = {
  name: 'postgres-goes-silent',
  signs: silentSigns,
  isTunnelled: true,
  begin: postgresSilent(heardAgain),
};
const failover: Fault = {
  name: 'postgres-goes-silent-and-another-answers',
  signs: silentSigns,
  isTunnelled: true,
  begin: postgresSilent(replaced),
};
/** Its jobs live long enough that as many run at once as may. */
const oneFirst: Fault = {
  name: 'one-entity-first',
  signs: { environmentsAtCap: 1 },
  oneFirst: true,
  tightCaps: true,
  excess: 0,
  jobMs: [3_000, 4_000],
  begin: oneEntityFirst,
};
const two: Fault = { name: 'two-environments', signs: { environmentsAtWork: 2 }, environments: 2 };

const down: Fault = {
  name: 'ingress-down',
  signs: { servicesKilled: 1, deliveriesFailed: 1, deliveriesRepeated: 1 },
  atUsualTimes: true,
  heldSweeps: LOOKS,
  rules: UNREAD,
  lone: middleOf(FIRST_THIRD),
  begin: ingressDown(FIRST_THIRD),
};
const wronglySigned = (window: Window): Fault => ({
  name: 'wrong-secret',
  signs: { deliveriesFailed: 1, deliveriesRepeated: 1 },
  heldSweeps: LOOKS,
  lone: middleOf(window),
  begin: wrongSecret(window),
});
const killed = (window: Window): Fault => ({
  name: 'services-killed',
  signs: { servicesKilled: 3 * KILLS_OF_EACH, tasksCrashed: 1 },
  atUsualTimes: true,
  // A starting service takes over what the killed one left; the sweep would do so a minute later.
  heldSweeps: ['recover-tasks'],
  begin: servicesKilled(window),
});

/** All of it at once. */
const EVERYTHING: Fault = {
  ...together('everything', [
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
    killed([1 / 3, 1]),
    two,
  ]),
  // At worst, a killed process loses one wait for each App and entity.
  lostWaits: 3,
};

/** The faults; each one is a row of the table. */
export const FAULTS: readonly Fault[] = [
  { name: 'none', signs: {}, excess: 0, tightCaps: true },
  { name: 'events-never-sent', signs: { eventsNeverSent: 3 }, unannounced: true, lone: 1 },
  lost,
  shuffled,
  {
    name: 'in-progress-lost',
    signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
    // GitHub also does not announce that a job has ended before its pod has. So a worker ends for a
    // job that, as far as we know, still waits.
    deliveries: { dropActions: ['in_progress'], delayMs: [1_000, 3_000] },
    heldSweeps: LOOKS,
  },
  {
    name: 'completed-lost',
    signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
    deliveries: { dropActions: ['completed'] },
    heldSweeps: LOOKS,
  },
  down,
  wronglySigned(FIRST_THIRD),
  refusing,
  hanging,
  shut,
  away,
  stalled,
  restarted,
  silence,
  failover,
  killed(WHOLE),
  lies,
  unheard,
  oneFirst,
  ...ONE_HIT,
  schedulerKilled,
  two,
  dying,
  silent,
  cancelled,
  {
    ...EVERYTHING,
    stretch: 3,
    tightCaps: true,
    jobMs: LONG,
    rules: {},
    heldSweeps: [],
    // Two environments learn of most jobs minutes late.
    excess: 0.4,
    // Some of it needs cadences of seconds to come to its end.
    atUsualTimes: false,
  },
];
