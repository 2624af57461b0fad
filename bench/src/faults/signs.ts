import { sql } from 'kysely';
import { mostActiveOf } from './caps.ts';
import type { Stage } from './stage.ts';

/**
 * The traces of a fault that has really struck, by the part that it struck, with their names for
 * people.
 */
export const SIGNS = {
  eventsNeverSent: 'events never sent',
  deliveriesLost: 'deliveries lost',
  deliveriesDoubled: 'deliveries doubled',
  deliveriesDelayed: 'deliveries delayed',
  deliveriesFailed: 'deliveries refused or not accepted by us',
  deliveriesRepeated: 'deliveries repeated',
  githubCallsFailed: 'calls of GitHub failed',
  githubErrors: 'with 500',
  githubRefusals: 'with 403',
  githubLimits: 'with 429',
  busyHidden: 'busy runners called idle',
  clusterCallsFailed: 'calls of the cluster failed',
  postgresRestarted: 'PostgreSQL restarted',
  connectionsSilenced: 'connections to PostgreSQL silenced',
  servicesComplained: 'services that called themselves not ready',
  servicesKilled: 'services killed',
  tasksCrashed: 'tasks whose executor was killed at work',
  runnersDied: 'runners died',
  runnersDiedAtStart: 'of them before they connected to GitHub',
  runnersSilent: 'runners silent',
  jobsCancelledInQueue: 'jobs cancelled in the queue',
  environmentsAtWork: 'environments at work',
  environmentsAtCap: 'environments with an entity at its cap',
} as const;

export type Sign = keyof typeof SIGNS;
export type Signs = Readonly<Record<Sign, number>>;

/** The signs on this stage since it was set up. */
export async function readSigns({ github, cluster, tunnel, environments }: Stage): Promise<Signs> {
  const [{ struck, failedDeliveries, redelivered }, { jobs }, ofCluster, seen] = await Promise.all([
    github.report(),
    github.truth(),
    cluster.report(),
    Promise.all(environments.map(({ db }) => readDatabase(db))),
  ]);
  const lost = struck.delivery_lost ?? 0;
  const diedAtStart = ofCluster.struck.runner_died_at_start ?? 0;
  const most = await Promise.all(environments.map((each) => mostActiveOf(each, ofCluster)));
  const services = environments.flatMap((environment) => environment.services);
  return {
    eventsNeverSent: struck.event_never_sent ?? 0,
    deliveriesLost: lost,
    deliveriesDoubled: struck.delivery_doubled ?? 0,
    deliveriesDelayed: struck.delivery_delayed ?? 0,
    deliveriesFailed: failedDeliveries - lost,
    deliveriesRepeated: redelivered,
    githubCallsFailed: struck.call_failed ?? 0,
    githubErrors: struck['call_failed_500'] ?? 0,
    githubRefusals: struck['call_failed_403'] ?? 0,
    githubLimits: struck['call_failed_429'] ?? 0,
    busyHidden: struck.busy_hidden ?? 0,
    clusterCallsFailed: ofCluster.struck.call_failed ?? 0,
    // Seconds since the epoch: a rise is the sign.
    postgresRestarted: seen[0]?.startedAt ?? 0,
    connectionsSilenced: tunnel?.silenced() ?? 0,
    servicesComplained: services.reduce((sum, { complaints }) => sum + complaints(), 0),
    servicesKilled: services.reduce((sum, { kills }) => sum + kills(), 0),
    tasksCrashed: seen.reduce((sum, { crashes }) => sum + crashes, 0),
    runnersDied: (ofCluster.struck.runner_died ?? 0) + diedAtStart,
    runnersDiedAtStart: diedAtStart,
    runnersSilent: ofCluster.struck.runner_silent ?? 0,
    jobsCancelledInQueue: jobs.filter(
      ({ conclusion, runnerName }) => conclusion === 'cancelled' && runnerName === null,
    ).length,
    environmentsAtWork: seen.filter(({ isAtWork }) => isAtWork).length,
    environmentsAtCap: environments.filter(
      ({ caps }, index) => (most[index]?.entity ?? 0) >= caps.entity,
    ).length,
  };
}

interface SeenInDatabase {
  readonly startedAt: number;
  readonly isAtWork: boolean;
  readonly crashes: number;
}

async function readDatabase(db: Stage['environments'][number]['db']): Promise<SeenInDatabase> {
  const { rows } = await sql<SeenInDatabase>`
    select extract(epoch from pg_postmaster_start_time())::float8 as "startedAt",
      exists (select from workers where assigned_job_id is not null) as "isAtWork",
      (select coalesce(sum(crashes), 0)::int from operations) as crashes`.execute(db);
  return rows[0] ?? { startedAt: 0, isAtWork: false, crashes: 0 };
}

/** The signs between two readings. */
export function signsSince(before: Signs, after: Signs): Signs {
  const risen = Object.entries(after).map(([sign, count]) => [
    sign,
    count - (before[sign as Sign] ?? 0),
  ]);
  const since = Object.fromEntries(risen) as Record<Sign, number>;
  return { ...since, postgresRestarted: since.postgresRestarted > 0 ? 1 : 0 };
}

/** The signs that were seen, for people. */
export const describeSigns = (signs: Signs): string =>
  Object.entries(SIGNS)
    .filter(([sign]) => signs[sign as Sign] !== 0)
    .map(([sign, words]) => `${words} ${signs[sign as Sign]}`)
    .join(', ');

/** Not the fault's work, but our reaction to it. */
const ANSWERS: ReadonlySet<Sign> = new Set<Sign>(['deliveriesRepeated', 'servicesComplained']);

/**
 * Missing signs, in words. Then the row proves nothing, or we have not reacted to the fault as we
 * must.
 */
export const missingSigns = (wanted: Partial<Signs>, seen: Signs): string[] =>
  (Object.entries(wanted) as [Sign, number][])
    .filter(([sign, least]) => seen[sign] < least)
    .map(([sign, least]) => {
      const found = `${SIGNS[sign]} ${seen[sign]} instead of ${least} at least`;
      return ANSWERS.has(sign)
        ? `the fault is not answered: ${found}`
        : `the fault has not struck: ${found}; play more jobs`;
    });
