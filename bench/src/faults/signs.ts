import { sql } from 'kysely';
import { mostActiveOf } from '../stage/environment.ts';
import type { Stage } from '../stage/stage.ts';

/** All that a stage has to show. */
type Seen = Awaited<ReturnType<typeof lookFor>>;

interface Trace {
  /** For people. */
  readonly words: string;
  readonly count: (seen: Seen) => number | undefined;
}

/** The traces of a fault that has really struck, by the part that it struck. */
const TRACES = {
  eventsNeverSent: {
    words: 'events never sent',
    count: ({ github }) => github.struck.event_never_sent,
  },
  deliveriesLost: { words: 'deliveries lost', count: ({ github }) => github.struck.delivery_lost },
  deliveriesDoubled: {
    words: 'deliveries doubled',
    count: ({ github }) => github.struck.delivery_doubled,
  },
  deliveriesDelayed: {
    words: 'deliveries delayed',
    count: ({ github }) => github.struck.delivery_delayed,
  },
  deliveriesFailed: {
    words: 'deliveries refused or not accepted by us',
    count: ({ github }) => github.failedDeliveries - (github.struck.delivery_lost ?? 0),
  },
  deliveriesRepeated: {
    words: 'deliveries repeated',
    count: ({ github }) => github.redelivered,
  },
  githubCallsFailed: {
    words: 'calls of GitHub failed',
    count: ({ github }) => github.struck.call_failed,
  },
  githubErrors: { words: 'with 500', count: ({ github }) => github.struck['call_failed_500'] },
  githubRefusals: { words: 'with 403', count: ({ github }) => github.struck['call_failed_403'] },
  githubLimits: { words: 'with 429', count: ({ github }) => github.struck['call_failed_429'] },
  busyHidden: {
    words: 'busy runners called idle',
    count: ({ github }) => github.struck.busy_hidden,
  },
  clusterCallsFailed: {
    words: 'calls of the cluster failed',
    count: ({ cluster }) => cluster.struck.call_failed,
  },
  // Seconds since the epoch: a rise is the sign.
  postgresRestarted: {
    words: 'PostgreSQL restarted',
    count: ({ databases }) => databases[0]?.startedAt,
  },
  connectionsSilenced: {
    words: 'connections to PostgreSQL silenced',
    count: ({ silenced }) => silenced,
  },
  servicesComplained: {
    words: 'services that called themselves not ready',
    count: ({ services }) => sum(services.map(({ complaints }) => complaints())),
  },
  servicesKilled: {
    words: 'services killed',
    count: ({ services }) => sum(services.map(({ kills }) => kills())),
  },
  tasksCrashed: {
    words: 'tasks whose executor was killed at work',
    count: ({ databases }) => sum(databases.map(({ crashes }) => crashes)),
  },
  runnersDied: {
    words: 'runners died',
    count: ({ cluster: { struck } }) =>
      (struck.runner_died ?? 0) + (struck.runner_died_at_start ?? 0),
  },
  runnersDiedAtStart: {
    words: 'of them before they connected to GitHub',
    count: ({ cluster }) => cluster.struck.runner_died_at_start,
  },
  runnersSilent: { words: 'runners silent', count: ({ cluster }) => cluster.struck.runner_silent },
  jobsCancelledInQueue: {
    words: 'jobs cancelled in the queue',
    count: ({ jobs }) =>
      jobs.filter((job) => job.conclusion === 'cancelled' && job.runnerName === null).length,
  },
  environmentsAtWork: {
    words: 'environments at work',
    count: ({ databases }) => databases.filter(({ isAtWork }) => isAtWork).length,
  },
  environmentsAtCap: {
    words: 'environments with an entity at its cap',
    count: ({ databases }) => databases.filter(({ isAtCap }) => isAtCap).length,
  },
} satisfies Record<string, Trace>;

type Sign = keyof typeof TRACES;
export type Signs = Readonly<Record<Sign, number>>;
const SIGNS = Object.keys(TRACES) as Sign[];

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

const signsOf = (count: (sign: Sign) => number): Signs =>
  Object.fromEntries(SIGNS.map((sign) => [sign, count(sign)])) as Signs;

/** The signs on this stage since it was set up. */
export async function readSigns(stage: Stage): Promise<Signs> {
  const seen = await lookFor(stage);
  return signsOf((sign) => TRACES[sign].count(seen) ?? 0);
}

async function lookFor({ github, cluster, tunnel, environments }: Stage) {
  const report = await cluster.report();
  return {
    github: await github.report(),
    jobs: (await github.truth()).jobs,
    cluster: report,
    silenced: tunnel?.silenced() ?? 0,
    services: environments.flatMap(({ services }) => services),
    databases: await Promise.all(
      environments.map(async (environment) => {
        const { rows } = await sql<{ startedAt: number; isAtWork: boolean; crashes: number }>`
          select extract(epoch from pg_postmaster_start_time())::float8 as "startedAt",
            exists (select from workers where assigned_job_id is not null) as "isAtWork",
            (select coalesce(sum(crashes), 0)::int from operations) as crashes`.execute(
          environment.db,
        );
        const most = await mostActiveOf(environment, report);
        return {
          ...(rows[0] ?? { startedAt: 0, isAtWork: false, crashes: 0 }),
          isAtCap: most.entity >= environment.caps.entity,
        };
      }),
    ),
  };
}

/** The signs between two readings. */
export const signsSince = (before: Signs, after: Signs): Signs =>
  signsOf((sign) => {
    const risen = after[sign] - before[sign];
    return sign === 'postgresRestarted' ? Math.sign(risen) : risen;
  });

/** The signs that were seen, for people. */
export const describeSigns = (signs: Signs): string =>
  SIGNS.filter((sign) => signs[sign] !== 0)
    .map((sign) => `${TRACES[sign].words} ${signs[sign]}`)
    .join(', ');

/** Not the fault's work, but our reaction to it. */
const ANSWERS = new Set<Sign>(['deliveriesRepeated', 'servicesComplained']);

/**
 * Missing signs, in words. Then the row proves nothing, or we have not reacted to the fault as we
 * must.
 */
export const missingSigns = (wanted: Partial<Signs>, seen: Signs): string[] =>
  SIGNS.flatMap((sign) => {
    const least = wanted[sign] ?? -Infinity;
    if (seen[sign] >= least) return [];
    const found = `${TRACES[sign].words} ${seen[sign]} instead of ${least} at least`;
    return ANSWERS.has(sign)
      ? [`the fault is not answered: ${found}`]
      : [`the fault has not struck: ${found}; play more jobs`];
  });
