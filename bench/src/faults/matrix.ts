import {
  FIRST_THIRD,
  MIDDLE,
  WHOLE,
  type Window,
  ingressDown,
  wrongSecret,
  githubRefuses,
  githubHangs,
  apiServerHangs,
  repositoryRefuses,
  apiServerAway,
  postgresRestarts,
  postgresSilent,
  heardAgain,
  replaced,
  servicesKilled,
  KILLS_OF_EACH,
} from './beginnings.ts';
import { type Fault, together } from './fault.ts';

const lost: Fault = {
  name: 'deliveries-lost',
  signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
  deliveries: { lossRate: 0.2 },
};
const shuffled: Fault = {
  name: 'deliveries-doubled-and-shuffled',
  signs: { deliveriesDoubled: 1, deliveriesDelayed: 1 },
  deliveries: { duplicateRate: 0.2, delayMs: [0, 3_000] },
};
const lies: Fault = {
  name: 'busy-lies',
  signs: { busyHidden: 1, deliveriesLost: 1 },
  // Nobody is told that a job runs either, and it runs for longer than a worker may be idle: only its log says that it works.
  busyLies: true,
  deliveries: { dropActions: ['in_progress'] },
  jobMs: [12_000, 18_000],
};
/** GitHub never tells of these jobs before they end, and nobody looks for them: what a runner of ours works at is known from its log alone. */
const unheard: Fault = {
  name: 'busy-lies-about-unheard-jobs',
  signs: { busyHidden: 1, eventsNeverSent: 3 },
  busyLies: true,
  untold: true,
  deliveries: { omitActions: ['in_progress'] },
  jobMs: [12_000, 18_000],
  settings: { PADDOCK_DISCOVER_JOBS_EVERY_SECONDS: '120', PADDOCK_LOOK_UP_JOBS_EVERY_SECONDS: '120' },
};
const dying: Fault = { name: 'pods-fail', signs: { runnersDied: 1 }, runners: { dieRate: 0.1 } };
const silent: Fault = { name: 'runners-never-register', signs: { runnersSilent: 1 }, runners: { silentRate: 0.1 } };
const cancelled: Fault = { name: 'jobs-cancelled', signs: { jobsCancelledInQueue: 1 }, cancelShare: 0.3 };

const refusing: Fault = {
  name: 'github-refuses',
  signs: { githubErrors: 1, githubRefusals: 1, githubLimits: 1 },
  atUsualTimes: true,
  begin: githubRefuses,
};
const hanging: Fault = { name: 'github-hangs', signs: { githubCallsFailed: 1 }, atUsualTimes: true, begin: githubHangs };
const shut: Fault = { name: 'repository-refuses', signs: { githubRefusals: 1 }, begin: repositoryRefuses };
const away: Fault = { name: 'api-server-away', signs: { clusterCallsFailed: 1 }, atUsualTimes: true, begin: apiServerAway };
const stalled: Fault = { name: 'api-server-hangs', signs: { clusterCallsFailed: 1 }, atUsualTimes: true, begin: apiServerHangs };
const restarted: Fault = {
  name: 'postgres-restarts',
  signs: { postgresRestarted: 1 },
  atUsualTimes: true,
  begin: postgresRestarts,
};
/** Every service has connections, and says that it has lost them. */
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
const two: Fault = { name: 'two-environments', signs: { environmentsAtWork: 2 }, environments: 2 };

const down: Fault = {
  name: 'ingress-down',
  signs: { servicesKilled: 1, deliveriesFailed: 1, deliveriesRepeated: 1 },
  atUsualTimes: true,
  begin: ingressDown(FIRST_THIRD),
};
const wronglySigned = (window: Window): Fault => ({
  name: 'wrong-secret',
  signs: { deliveriesFailed: 1, deliveriesRepeated: 1 },
  begin: wrongSecret(window),
});
const killed = (window: Window): Fault => ({
  name: 'services-killed',
  signs: { servicesKilled: 3 * KILLS_OF_EACH },
  atUsualTimes: true,
  begin: servicesKilled(window),
});

/** All of it at once. GitHub is asked so seldom then that not each kind of its refusals need be met. */
const EVERYTHING = together('everything', [
  lies,
  lost,
  { ...shuffled, deliveries: { ...shuffled.deliveries, dropActions: [] } },
  dying,
  silent,
  cancelled,
  down,
  wronglySigned(MIDDLE),
  refusing,
  away,
  restarted,
  killed([1 / 3, 1]),
  two,
]);

/** What may go wrong, one row of the table each. */
export const FAULTS: readonly Fault[] = [
  { name: 'none', signs: {}, excess: 0 },
  { name: 'events-never-sent', signs: { eventsNeverSent: 3 }, untold: true },
  lost,
  shuffled,
  {
    name: 'in-progress-lost',
    signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
    deliveries: { dropActions: ['in_progress'] },
  },
  {
    name: 'completed-lost',
    signs: { deliveriesLost: 1, deliveriesRepeated: 1 },
    deliveries: { dropActions: ['completed'] },
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
  two,
  dying,
  silent,
  cancelled,
  {
    ...EVERYTHING,
    stretch: 3,
    signs: { ...EVERYTHING.signs, githubErrors: 0, githubRefusals: 0, githubLimits: 0, githubCallsFailed: 1 },
    // Two environments hear of most jobs minutes late.
    excess: 0.4,
    // Some of it needs cadences of seconds to come to its end.
    atUsualTimes: false,
  },
];
