import {
  ENTITIES,
  NAMESPACE,
  ORGANISATION_APP,
  type Owner,
  PERSONAL_APP,
  type Platform,
  pool,
  POOLS,
} from '../scenario.ts';
import { TIMES_OF_FAILURES } from '../start-system.ts';

/** Only ingress knows this App, as when a change of the file has reached one service so far. */
const UNFINISHED_APP = 100_003;
/** Its deliveries arrive nowhere. */
export const DEAF_APP = 100_004;
/** Its quota allows no pod. */
export const SANDBOX = 'sandbox';

/** How the simulated cluster starts the pods of a pool. */
const starts = (how: string) => ({
  template: { metadata: { annotations: { 'test.paddock/start': how } } },
});

/** Each has what one stop of the tour needs, beside the pools of every demo. */
const TOUR_POOLS = [
  ...POOLS.map((one) => (one.name === 'gpu' ? Object.assign({}, one, { maxWorkers: 4 }) : one)),
  pool('containers', { registration: 'repository', maxWorkersPerRepository: 1 }),
  pool('deploy', { repositories: ['acme/infrastructure'], runnerGroup: 'deploy' }),
  pool('windows', { paused: true }),
  pool('highmem', { resources: { requests: { memory: '768Gi' } }, ...starts('unschedulable') }),
  pool('linux-next', { image: 'registry.acme.example/runner:nxet', ...starts('image-pull-error') }),
  pool('linux-2025', { image: 'ghcr.io/actions/actions-runner:2.329.0' }),
  pool('sandbox', { namespace: SANDBOX }),
  pool('release', { runnerGroup: 'release', idleDeadlineSeconds: 10 }),
  pool('review', { runnerGroup: 'review' }),
  pool('partners', { entities: ['umbrella'], maxWorkers: 1 }),
  pool('large-image', starts('never')),
  pool('edge', { idleDeadlineSeconds: 10, registrationDeadlineSeconds: 3_600 }),
  pool('spare'),
  // These leave the file, or lose a label, during the tour. Until then they make no workers.
  pool('ubuntu-20', { paused: true }),
  pool('ubuntu-22', { labels: ['self-hosted', 'ubuntu-22', 'docker'], paused: true }),
];

const organisation = (login: string, appId = ORGANISATION_APP): Owner => ({
  login,
  type: 'Organization',
  appId,
  repositories: ['app'],
});

/** Accounts that have one trouble each. */
export const TOUR_OWNERS: readonly Owner[] = [
  ...['initech', 'hooli', 'tyrell', 'oscorp', 'stark', 'umbrella', 'wonka'].map((login) =>
    organisation(login),
  ),
  ...['soylent', 'soylent-labs', 'hobbyists', 'students'].map((login) => organisation(login)),
  organisation('cyberdyne', UNFINISHED_APP),
  organisation('pied-piper', DEAF_APP),
  {
    login: 'octo',
    type: 'User',
    appId: PERSONAL_APP,
    repositories: ['gone', 'closed'],
  },
];

const ADMITTED = {
  ...ENTITIES,
  // The logins that two of them take during the tour.
  'soylent-foods': {},
  'umbrella-group': {},
  initech: { maxWorkers: 2 },
  tyrell: { maxWorkers: 1 },
  oscorp: { maxWorkers: 1 },
  'soylent-labs': { maxWorkers: 1 },
  ...Object.fromEntries(
    ['hooli', 'stark', 'umbrella', 'wonka', 'soylent', 'cyberdyne', 'octo'].map((login) => [
      login,
      {},
    ]),
  ),
};

/** From now on everybody who installs the App is served, with two workers for all of them. */
export const ENTITIES_WITH_ALL = { ...ADMITTED, '*': { maxWorkers: 5, commonMaxWorkers: 2 } };

export const TOUR_PLATFORM: Platform = {
  appIds: [ORGANISATION_APP, PERSONAL_APP, DEAF_APP],
  appsOfIngress: [UNFINISHED_APP],
  pools: TOUR_POOLS,
  entities: ADMITTED,
  namespaces: [NAMESPACE, SANDBOX],
  rules: [
    TIMES_OF_FAILURES,
    {
      reconciler: { lookUpJobsEverySeconds: 2, runnerReadingsApartMs: 1_000 },
      scheduler: { unexplainedGraceMs: 660_000 },
      db: {
        poolsRefreshMs: 1_000,
        // Short at first, so that failures become pauses; longer later, so that the tour rests.
        failingLongestPauseMs: 300_000,
        // Surplus workers are worth seeing too.
        surplusAfterMs: 3_600_000,
      },
    },
  ],
};
