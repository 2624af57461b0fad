import { OWN_CAP, OWN_NAMESPACE } from '../stage/environment.ts';
import type { Stage } from '../stage/stage.ts';
import { type Fault, type Hit, isHit } from './fault.ts';
import { goAway, KILLS_WHILE_IT_TRIES, killWhileItTries } from './kills.ts';
import { missingSigns, readSigns, signsSince } from './signs.ts';
import {
  cluster,
  github,
  type GitHubFault,
  haveRun,
  type Strike,
  strikes,
  until,
  whySays,
} from './strikes.ts';
import {
  LONE_REPOSITORY,
  LONE_REPOSITORY_ID,
  UMBRA,
  UMBRA_INSTALLATION,
  UMBRA_REPOSITORIES,
} from './world.ts';

const SERVER_ERROR = { message: 'Server Error' };
const UMBRA_JOBS: Hit = { repositories: UMBRA_REPOSITORIES };
const WALLED_JOBS: Hit = { ...UMBRA_JOBS, ownPool: true };
const UMBRA_RUN = '^/repos/umbra/[^/]+/actions/runs/[0-9]+/jobs$';
const WALLED = `^/api/v1/namespaces/${OWN_NAMESPACE}/pods`;
/** A page of GitHub's has a hundred, and so many runs at most were once read before a stop. */
const BACKLOG: Hit = { ...WALLED_JOBS, first: 101 + OWN_CAP };

type Row = Pick<Fault, 'name' | 'signs'> &
  Partial<Fault> & {
    readonly hit: Hit;
    readonly strike: Partial<Strike>;
    /** What the sentence for a waiting job of the one that is hit has to say. */
    readonly why?: RegExp;
  };

/** Lasts until it has struck, all others' jobs have run, and why names the cause. */
const rowOf = ({ strike, why, ...fault }: Row): Fault => ({
  ...(why !== undefined && { board: why }),
  ...fault,
  begin: async (stage, progress) => {
    const before = await readSigns(stage);
    const hasStruck = async () =>
      missingSigns(fault.signs, signsSince(before, await readSigns(stage))).length === 0;
    return strikes({
      from: 0,
      to: 1,
      until: [
        until(hasStruck, 'The fault has not struck.'),
        haveRun((repository) => !isHit(fault.hit, repository)),
        ...(why === undefined ? [] : [whySays(fault.hit, why)]),
      ],
      ...strike,
    })(stage, progress);
  },
});

/** A webhook of the namespace: what it says of other namespaces does not matter. */
const webhook = (name: string, status: number, reason: string): Row => ({
  name,
  signs: { clusterCallsFailed: 3 },
  atUsualTimes: true,
  hit: WALLED_JOBS,
  strike: cluster({
    verb: 'create',
    path: `${WALLED}$`,
    status,
    reason,
    message: 'admission webhook "walls.example.com" denied the request',
  }),
  why: /walls\.example\.com/,
});

/** As many runners as the pool may have are silent for ever; those after them are not. */
async function untilCapIsSilent(stage: Stage): Promise<void> {
  await until(
    async ({ cluster: { report } }) => ((await report()).struck.runner_silent ?? 0) >= OWN_CAP,
    'The first runners have not started.',
  )(stage);
  await stage.cluster.setRunnerFaults({});
}

/** More than the scheduler has slots for registrations. */
const ALL_WAIT: Hit = { ...UMBRA_JOBS, first: 40 };
const AWAY = /GitHub has not answered since/;
const WHY_AWAY = whySays(ALL_WAIT, AWAY);

/** Every call of the organisation's installation, and the App's about it. */
const umbraCalls = (fault: GitHubFault) =>
  github(
    { ...fault, path: '', caller: `installation ${UMBRA_INSTALLATION}` },
    { ...fault, path: `^/app/installations/${UMBRA_INSTALLATION}(/|$)` },
  );

/** Each hits one organisation, one repository or one namespace. */
const ROWS: readonly Row[] = [
  {
    name: 'registrations-of-one-fail',
    signs: { githubCallsFailed: 3 },
    atUsualTimes: true,
    // With 300 jobs it lasts ten minutes.
    betweenJobsMs: 2_000,
    hit: UMBRA_JOBS,
    strike: github({
      path: `^/orgs/${UMBRA}/actions/runners/generate-jitconfig$`,
      status: 502,
      body: SERVER_ERROR,
    }),
    why: /fail before they have a job.*502.*generate-jitconfig/,
  },
  webhook('webhook-conflicts', 409, 'Conflict'),
  webhook('webhook-unavailable', 503, 'ServiceUnavailable'),
  {
    name: 'installation-fails',
    signs: { githubErrors: 3 },
    atUsualTimes: true,
    hit: UMBRA_JOBS,
    strike: umbraCalls({ status: 500, body: SERVER_ERROR }),
    why: /fail before they have a job.*GitHub answered 500/,
  },
  {
    // Each call takes its whole time limit: others go on in slots that the silent ones lend.
    name: 'installation-hangs',
    signs: { githubCallsFailed: 3 },
    atUsualTimes: true,
    hit: ALL_WAIT,
    strike: umbraCalls({ hang: true }),
    why: /fail before they have a job.*GitHub/,
  },
  {
    name: 'repository-hidden',
    signs: { githubCallsFailed: 1 },
    atUsualTimes: true,
    hit: { repositories: [LONE_REPOSITORY] },
    strike: github({
      path: `^/repos/${LONE_REPOSITORY}(/|$)|^/repositories/${LONE_REPOSITORY_ID}$`,
      status: 404,
      body: { message: 'Not Found' },
    }),
    why: /GitHub does not show the repository mona\/garage to the App/,
  },
  {
    // GitHub has announced neither the runs that fail nor some of others' jobs, so only a pass that
    // goes on past those finds these.
    name: 'runs-of-one-fail',
    signs: { githubCallsFailed: 3, eventsNeverSent: 4 },
    unannounced: true,
    hit: { ...UMBRA_JOBS, first: UMBRA_REPOSITORIES.length, unheard: true },
    strike: github({ path: UMBRA_RUN, status: 502, body: SERVER_ERROR }),
  },
  {
    // It never ends: the jobs of the one that is hit have to run all the same.
    name: 'second-page-empty',
    signs: { githubCallsFailed: 1 },
    hit: { ...BACKLOG, inOneRun: true },
    strike: { start: github({ path: UMBRA_RUN, page: 2, emptied: true }).start },
    why: /maxWorkers of the pool walled is/,
  },
  {
    // Nor does this one.
    name: 'dead-workers-before-many-runs',
    signs: { runnersSilent: OWN_CAP, clusterCallsFailed: 1 },
    hit: BACKLOG,
    strike: {
      start: async (stage) => {
        await stage.cluster.setRunnerFaults({ silentRate: 1 });
        await cluster({ verb: 'get', path: `${WALLED}/[^/]+/log$`, status: 500 }).start(stage);
      },
      first: untilCapIsSilent,
    },
    why: /maxWorkers of the pool walled is|fail before they have a job/,
  },
  {
    // A fresh one believes what the dead one has noted, and asks GitHub only once that is back.
    // Others' jobs come after the last time.
    name: 'scheduler-killed-while-it-tries',
    signs: { servicesKilled: KILLS_WHILE_IT_TRIES + 1, githubErrors: 1 },
    atUsualTimes: true,
    hit: ALL_WAIT,
    board: AWAY,
    strike: {
      to: 0,
      start: goAway.start,
      first: async (stage) => {
        await killWhileItTries(stage);
        await WHY_AWAY(stage);
      },
      until: [],
      end: async (stage) => {
        await goAway.end(stage);
        // The reconciler.
        await stage.environment.services.at(-1)?.start();
      },
    },
  },
];

export const ONE_HIT = ROWS.map(rowOf);
