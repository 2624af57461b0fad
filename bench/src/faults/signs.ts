import { onlyRowOf } from '@paddock/db/rows';
import { mostActiveOf } from '../stage/environment.ts';
import type { Stage } from '../stage/stage.ts';

/** All that a stage has to show. */
type Seen = Awaited<ReturnType<typeof lookFor>>;

/** How often a fault has really struck, by the part that it struck. */
const TRACES = {
  eventsNeverSent: ({ github }) => github.struck.event_never_sent,
  deliveriesLost: ({ github }) => github.struck.delivery_lost,
  deliveriesDoubled: ({ github }) => github.struck.delivery_doubled,
  deliveriesDelayed: ({ github }) => github.struck.delivery_delayed,
  // Refused, or not accepted by us.
  deliveriesFailed: ({ github }) => github.failedDeliveries - (github.struck.delivery_lost ?? 0),
  deliveriesRepeated: ({ github }) => github.redelivered,
  githubCallsFailed: ({ github }) => github.struck.call_failed,
  githubErrors: ({ github }) => github.struck['call_failed_500'],
  githubRefusals: ({ github }) => github.struck['call_failed_403'],
  githubLimits: ({ github }) => github.struck['call_failed_429'],
  // By another controller.
  jobsTaken: ({ github }) => github.struck.job_taken,
  busyHidden: ({ github }) => github.struck.busy_hidden,
  clusterCallsFailed: ({ cluster }) => cluster.struck.call_failed,
  // Seconds since the epoch: a rise is the sign.
  postgresRestarted: ({ databases }) => databases[0]?.startedAt,
  connectionsSilenced: ({ silenced }) => silenced,
  // They called themselves not ready.
  servicesComplained: ({ services }) => sum(services.map(({ complaints }) => complaints())),
  servicesKilled: ({ services }) => sum(services.map(({ kills }) => kills())),
  // Their executor was killed at work.
  tasksCrashed: ({ databases }) => sum(databases.map(({ crashes }) => crashes)),
  runnersDied: ({ cluster: { struck } }) =>
    (struck.runner_died ?? 0) + (struck.runner_died_at_start ?? 0),
  // Of them before they connected to GitHub.
  runnersDiedAtStart: ({ cluster }) => cluster.struck.runner_died_at_start,
  runnersSilent: ({ cluster }) => cluster.struck.runner_silent,
  jobsCancelledInQueue: ({ jobs }) =>
    jobs.filter((job) => job.conclusion === 'cancelled' && job.runnerName === null).length,
  environmentsAtWork: ({ databases }) => databases.filter(({ isAtWork }) => isAtWork).length,
  // An entity of them had as many workers as it may have.
  environmentsAtCap: ({ databases }) => databases.filter(({ isAtCap }) => isAtCap).length,
} satisfies Record<string, (seen: Seen) => number | undefined>;

type Sign = keyof typeof TRACES;
export type Signs = Readonly<Record<Sign, number>>;
const SIGNS = Object.keys(TRACES) as Sign[];

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

const signsOf = (count: (sign: Sign) => number): Signs =>
  Object.fromEntries(SIGNS.map((sign) => [sign, count(sign)])) as Signs;

/** The signs on this stage since it was set up. */
export async function readSigns(stage: Stage): Promise<Signs> {
  const seen = await lookFor(stage);
  return signsOf((sign) => TRACES[sign](seen) ?? 0);
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
        const seen = await onlyRowOf<{ startedAt: number; isAtWork: boolean; crashes: number }>(
          environment.db,
        )`
          select extract(epoch from pg_postmaster_start_time())::float8 as "startedAt",
            exists (select from workers where assigned_job_id is not null) as "isAtWork",
            (select coalesce(sum(crashes), 0)::int from operations) as crashes`;
        const most = await mostActiveOf(environment, report);
        return { ...seen, isAtCap: most.entity >= environment.caps.entity };
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

/** `deliveriesLost` as `deliveries lost`. */
const wordsOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The signs that were seen, for people. */
export const describeSigns = (signs: Signs): string =>
  SIGNS.filter((sign) => signs[sign] !== 0)
    .map((sign) => `${wordsOf(sign)} ${signs[sign]}`)
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
    const found = `${wordsOf(sign)} ${seen[sign]} instead of ${least} at least`;
    return ANSWERS.has(sign)
      ? [`the fault is not answered: ${found}`]
      : [`the fault has not struck: ${found}; play more jobs`];
  });
