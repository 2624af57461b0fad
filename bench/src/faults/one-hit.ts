import { whyJobEndpoint } from '@paddock/api/why/explain-job';
import { OWN_CAP, OWN_NAMESPACE } from './environment.ts';
import type { Beginning, Fault, Hit } from './fault.ts';
import { isHit } from './queue-jobs.ts';
import {
  LONE_REPOSITORY,
  LONE_REPOSITORY_ID,
  type Stage,
  UMBRA,
  UMBRA_INSTALLATION,
  UMBRA_REPOSITORIES,
} from './stage.ts';
import { until } from './windows.ts';

// Each fault hits one organisation, one repository or one namespace. It lasts until all others' jobs
// have run, however long that takes, and until `paddock why` names the cause.

/** More calls than a run has. */
const ALL = 1_000_000;
const SERVER_ERROR = { message: 'Server Error' };

type GitHubFault = Parameters<Stage['github']['failNext']>[0];
type ClusterFault = Parameters<Stage['cluster']['failNext']>[0];

const UMBRA_JOBS: Hit = { repositories: UMBRA_REPOSITORIES };
const WALLED_JOBS: Hit = { ...UMBRA_JOBS, ownPool: true };
const UMBRA_RUN = '^/repos/umbra/[^/]+/actions/runs/[0-9]+/jobs$';
const WALLED = `^/api/v1/namespaces/${OWN_NAMESPACE}/pods`;

interface Lasting {
  /** What the sentence for a waiting job of the one that is hit has to say. */
  readonly why?: RegExp;
  /** All others' jobs are queued after this. */
  readonly first?: (stage: Stage) => Promise<unknown>;
  /** It never ends: the jobs of the one that is hit have to run all the same. */
  readonly isUnhealed?: true;
}

const lasting =
  (
    hit: Hit,
    start: (stage: Stage) => Promise<unknown>,
    { why, first, isUnhealed }: Lasting,
  ): Beginning =>
  async (stage, progress) => {
    await start(stage);
    const isStruck = Promise.withResolvers<void>();
    if (first !== undefined) progress.holdUp(isStruck.promise);
    return async () => {
      try {
        await first?.(stage).finally(isStruck.resolve);
        await progress.reached(1);
        await untilOthersHaveRun(stage, hit);
        if (why !== undefined) await untilWhyNames(stage, hit, why);
      } finally {
        if (isUnhealed !== true) {
          await stage.github.clearCallFaults();
          await stage.cluster.clearFaults();
          progress.over();
        }
      }
    };
  };

const untilOthersHaveRun = ({ github }: Stage, hit: Hit): Promise<void> =>
  until(async () => {
    const { jobs } = await github.truth();
    return jobs.every(({ repo, status }) => isHit(hit, repo) || status === 'completed');
  }, 'Others’ jobs have not run while the fault lasted.');

export async function untilWhyNames(stage: Stage, hit: Hit, why: RegExp): Promise<void> {
  let last = 'GitHub has no queued job of the one that is hit';
  const names = async (): Promise<boolean> => {
    last = (await askWhy(stage, hit)) ?? last;
    return why.test(last);
  };
  await until(names, `No answer to why names the cause, ${why}.`).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : ''} The last: ${last}`);
  });
}

/** As `paddock why` of the oldest waiting job of the one that is hit. Undefined: none waits. */
async function askWhy(
  { github, environments: [environment] }: Stage,
  hit: Hit,
): Promise<string | undefined> {
  const { jobs } = await github.truth();
  const job = jobs.find(({ repo, status }) => isHit(hit, repo) && status === 'queued');
  if (environment === undefined || job === undefined) return undefined;
  const caller = { db: environment.db, person: 'faults', from: 'terminal' } as const;
  const { reason, sentence, advice } = await whyJobEndpoint.answer(caller, { job: job.id });
  return `${reason}: ${sentence} ${advice}`;
}

export const failGitHub =
  (...faults: readonly GitHubFault[]) =>
  async ({ github }: Stage): Promise<void> => {
    for (const fault of faults) await github.failNext({ times: ALL, ...fault });
  };

const failCluster =
  (fault: ClusterFault) =>
  ({ cluster }: Stage): Promise<void> =>
    cluster.failNext({ times: ALL, ...fault });

/** A webhook of the namespace: what it says of other namespaces does not matter. */
const webhook = (name: string, status: number, reason: string): Fault => ({
  name,
  signs: { clusterCallsFailed: 3 },
  atUsualTimes: true,
  hit: WALLED_JOBS,
  begin: lasting(
    WALLED_JOBS,
    failCluster({
      verb: 'create',
      path: `${WALLED}$`,
      status,
      reason,
      message: 'admission webhook "walls.example.com" denied the request',
    }),
    { why: /walls\.example\.com/ },
  ),
});

/** A page of GitHub's has a hundred, and so many runs at most were once read before a stop. */
const BACKLOG = 101;
const UNHEARD: Hit = { ...UMBRA_JOBS, first: UMBRA_REPOSITORIES.length, unheard: true };
const ONE_RUN: Hit = { ...WALLED_JOBS, first: BACKLOG + OWN_CAP, inOneRun: true };
const MANY_RUNS: Hit = { ...WALLED_JOBS, first: BACKLOG + OWN_CAP };

/** As many runners as the pool may have are silent for ever; those after them are not. */
async function untilCapIsSilent({ cluster }: Stage): Promise<void> {
  const areSilent = async () => ((await cluster.report()).struck.runner_silent ?? 0) >= OWN_CAP;
  await until(areSilent, 'The first runners have not started.');
  await cluster.setRunnerFaults({});
}

const HIDDEN: Hit = { repositories: [LONE_REPOSITORY] };

export const ONE_HIT: readonly Fault[] = [
  {
    name: 'registrations-of-one-fail',
    signs: { githubCallsFailed: 3 },
    atUsualTimes: true,
    // With 300 jobs it lasts ten minutes.
    betweenJobsMs: 2_000,
    hit: UMBRA_JOBS,
    begin: lasting(
      UMBRA_JOBS,
      failGitHub({
        path: `^/orgs/${UMBRA}/actions/runners/generate-jitconfig$`,
        status: 502,
        body: SERVER_ERROR,
      }),
      { why: /^workers_failing: .*502.*generate-jitconfig/ },
    ),
  },
  webhook('webhook-conflicts', 409, 'Conflict'),
  webhook('webhook-unavailable', 503, 'ServiceUnavailable'),
  {
    name: 'installation-fails',
    signs: { githubErrors: 3 },
    atUsualTimes: true,
    hit: UMBRA_JOBS,
    begin: lasting(
      UMBRA_JOBS,
      failGitHub(
        { path: '', caller: `installation ${UMBRA_INSTALLATION}`, status: 500, body: SERVER_ERROR },
        { path: `^/app/installations/${UMBRA_INSTALLATION}(/|$)`, status: 500, body: SERVER_ERROR },
      ),
      { why: /^workers_failing: .*GitHub answered 500/ },
    ),
  },
  {
    name: 'repository-hidden',
    signs: { githubCallsFailed: 1 },
    atUsualTimes: true,
    hit: HIDDEN,
    begin: lasting(
      HIDDEN,
      failGitHub({
        path: `^/repos/${LONE_REPOSITORY}(/|$)|^/repositories/${LONE_REPOSITORY_ID}$`,
        status: 404,
        body: { message: 'Not Found' },
      }),
      { why: /^repository_gone: / },
    ),
  },
  {
    name: 'runs-of-one-fail',
    signs: { githubCallsFailed: 3, eventsNeverSent: 4 },
    unannounced: true,
    hit: UNHEARD,
    // GitHub has announced neither the runs that fail nor some of others' jobs, so only a pass that
    // goes on past those finds these.
    begin: lasting(UNHEARD, failGitHub({ path: UMBRA_RUN, status: 502, body: SERVER_ERROR }), {}),
  },
  {
    name: 'second-page-empty',
    signs: { githubCallsFailed: 1 },
    hit: ONE_RUN,
    begin: lasting(ONE_RUN, failGitHub({ path: UMBRA_RUN, page: 2, emptied: true }), {
      why: /^at_pool_cap: /,
      isUnhealed: true,
    }),
  },
  {
    name: 'dead-workers-before-many-runs',
    signs: { runnersSilent: OWN_CAP, clusterCallsFailed: 1 },
    hit: MANY_RUNS,
    begin: lasting(
      MANY_RUNS,
      async (stage) => {
        await stage.cluster.setRunnerFaults({ silentRate: 1 });
        await failCluster({ verb: 'get', path: `${WALLED}/[^/]+/log$`, status: 500 })(stage);
      },
      { first: untilCapIsSilent, why: /^(at_pool_cap|workers_failing): /, isUnhealed: true },
    ),
  },
];
