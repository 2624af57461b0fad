import { onlyRowOf } from '@paddock/db/rows';
import { type Environment, mostActiveOf } from '../stage/environment.ts';
import type { Stage } from '../stage/stage.ts';
import type { Caps } from '../stage/times.ts';

/** The state of a run by the simulators and by our rows. */
export type Left = Awaited<ReturnType<typeof lookAt>>;

/** Compares GitHub's state, the cluster's and ours. It does not trust our own logs. */
export async function lookAt({ github, cluster, environments }: Stage, jobIds: readonly number[]) {
  const [truth, report, ours] = await Promise.all([
    github.truth(),
    cluster.report(),
    Promise.all(environments.map(readRows)),
  ]);
  const wanted = new Set(jobIds);
  const jobs = truth.jobs.filter(({ id }) => wanted.has(id));
  const ended = new Set(ours.flatMap(({ endedJobs }) => endedJobs));
  const lost = jobs.filter(({ id, status }) => status !== 'completed' || !ended.has(id));
  const died = new Set(report.died);
  const killed = jobs.filter((job) => job.killed && !died.has(job.runnerName ?? ''));
  const workers = ours.flatMap(({ liveWorkers }) => liveWorkers);
  const podsLeft = Object.values(report.podsByPhase).reduce((sum, count) => sum + count, 0);
  const active = await Promise.all(
    environments.map(async (each) => ({ each, most: await mostActiveOf(each, report) })),
  );
  const most = (what: keyof Caps) => Math.max(0, ...active.map((one) => one.most[what]));
  const unsettled = [
    shown(
      'jobs lost',
      lost.map(({ id, status }) => `${id} (GitHub: ${status}, row ended: ${ended.has(id)})`),
    ),
    shown('workers left', workers),
    shown(
      'registrations left',
      truth.runners.map(({ name, state }) => `${name} (${state})`),
    ),
    podsLeft === 0 ? undefined : `${podsLeft} pods left: ${JSON.stringify(report.podsByPhase)}`,
    shown('Secrets left', report.secretsLeft),
    shown(
      'jobs killed',
      killed.map(({ id, runnerName }) => `${id} on ${runnerName ?? '?'}`),
    ),
    ...active.flatMap(({ each: { caps, schema }, most: had }) =>
      (['pool', 'entity'] as const).map((what) =>
        had[what] > caps[what]
          ? `${schema} had ${had[what]} pods of one ${what} at one moment, and its cap is ${caps[what]}`
          : undefined,
      ),
    ),
  ].flatMap((line) => line ?? []);
  return {
    /**
     * Registrations that were unnecessary: those that existed, or were coming and did come,
     * sufficed. And they never ran a job.
     */
    excessWorkers: truth.registrations.filter(({ inExcess }) => inExcess).length,
    /** All registrations that were ever made. */
    registrationsMade: truth.registrations.length,
    /** The most pods at one moment, of all environments. */
    mostActive: { pool: most('pool'), entity: most('entity') },
    /** Differences from the required end state, in words, some by name; empty: all has settled. */
    unsettled,
  };
}

const readRows = ({ db }: Environment) =>
  onlyRowOf<{ endedJobs: number[]; liveWorkers: string[] }>(db)`
    select array(select job_id::float8 from jobs where status in ('completed', 'failed')) as "endedJobs",
      array(select concat(pod_name, ' (', status, coalesce(', stopping: ' || stop_reason, ''), ')')
        from workers where status in ('pending', 'running')) as "liveWorkers"`;

const SHOWN = 5;

function shown(what: string, items: readonly string[]): string | undefined {
  if (items.length === 0) return undefined;
  return `${items.length} ${what}: ${items.slice(0, SHOWN).join(', ')}${items.length > SHOWN ? ', …' : ''}`;
}
