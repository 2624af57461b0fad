import { fullName } from './accounts.ts';
import { mayCome } from './excess.ts';
import { describeScope } from './runner-service.ts';
import type { Job, RunnerRecord, Strike, World } from './world.ts';

export type JobTruth = ReturnType<typeof jobTruth>;
export type Truth = ReturnType<typeof truthOf>;
export type Report = ReturnType<typeof reportOf>;

export function truthOf(world: World) {
  return {
    jobs: [...world.jobs.values()].map(jobTruth),
    /** Registrations that exist now. */
    runners: [...world.runners.values()].map(({ id, name, scope, state, jobId }) => ({
      id,
      name,
      scope: describeScope(scope),
      state,
      jobId,
    })),
    /** All registrations ever made. */
    registrations: [...world.runnerRecords.values()].map((record) => {
      const { id, name, scope, registeredAt, goneAt, jobIds } = record;
      const inExcess = isInExcess(world, record);
      return { id, name, scope, registeredAt, goneAt, jobIds, inExcess };
    }),
    /** Without what they brought. */
    deliveries: world.deliveries.map(({ payload: _payload, ...delivery }) => delivery),
    calls: Object.fromEntries(world.calls),
  };
}

export function jobTruth(job: Job) {
  const { id, attempt, name, labels, hosted, status, conclusion, killed, run } = job;
  return {
    id,
    runId: run.id,
    attempt,
    repo: fullName(run.repository),
    repositoryId: run.repository.id,
    name,
    labels,
    hosted,
    status,
    conclusion,
    runnerName: job.runner?.name ?? null,
    /** When it began, or ended without having begun, to the millisecond; null while it waits. */
    leftQueueAt: job.leftQueueAtMs === null ? null : new Date(job.leftQueueAtMs).toISOString(),
    killed,
  };
}

/**
 * Whether the runner was unnecessary: the runners that were idle when it was made, or that came
 * after that, were enough for the queued jobs. And it has run no job. A runner that was coming then
 * and died before it came was no supply, so its replacement is not in excess.
 */
function isInExcess(world: World, { isCovered, jobIds }: RunnerRecord): boolean {
  return isCovered !== null && jobIds.length === 0 && isCovered((runner) => mayCome(world, runner));
}

/** How many examples of each finding the report has. */
const FIRST = 5;

/** The world in figures, without copying it. */
export function reportOf(world: World) {
  const jobs = [...world.jobs.values()];
  const completed = jobs.filter(({ status }) => status === 'completed').length;
  const records = [...world.runnerRecords.values()];
  return {
    jobs: jobs.length,
    completed,
    /** Not completed at the time of the report; after a quiet while they are lost. */
    lost: jobs.length - completed,
    /** Jobs whose runner was removed or vanished during the job. */
    killed: jobs.filter(({ killed }) => killed).length,
    registrations: records.length,
    excessWorkers: records.filter((record) => isInExcess(world, record)).length,
    /** Calls per operation id of GitHub's description. */
    calls: Object.fromEntries(world.calls),
    /**
     * Calls that the caller made although an answer had asked it to wait (`Retry-After`, or a
     * used-up hourly budget), and the first of them, by operation and caller.
     */
    callsAgainstWait: world.callsAgainstWait.length,
    firstAgainstWait: world.callsAgainstWait.slice(0, FIRST),
    /** How often each fault has struck. */
    struck: Object.fromEntries(world.struck) as Partial<Record<Strike, number>>,
    /** Attempts in the log, and how many of them failed or were redeliveries. */
    deliveries: world.deliveries.length,
    failedDeliveries: world.deliveries.filter(
      ({ statusCode }) => statusCode < 200 || statusCode >= 400,
    ).length,
    redelivered: world.deliveries.filter(({ redelivery }) => redelivery).length,
  };
}
