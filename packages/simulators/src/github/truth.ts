import { fullName } from './accounts.ts';
import type { JobTruth, RegistrationTruth, Report, Truth } from './control.ts';
import type { Job } from './job.ts';
import { mayCome } from './excess.ts';
import { describeScope, type RunnerRecord } from './runner.ts';
import type { World } from './world.ts';

export function truthOf(world: World): Truth {
  return {
    jobs: [...world.jobs.values()].map(jobTruth),
    runners: [...world.runners.values()].map(({ id, name, scope, state, jobId }) => ({
      id,
      name,
      scope: describeScope(scope),
      state,
      jobId,
    })),
    registrations: [...world.runnerRecords.values()].map((record) =>
      registrationTruth(world, record),
    ),
    deliveries: world.deliveries.map(({ id, guid, event, action, redelivery, statusCode }) => ({
      id,
      guid,
      event,
      action,
      redelivery,
      statusCode,
    })),
    calls: Object.fromEntries(world.calls),
  };
}

export function jobTruth(job: Job): JobTruth {
  return {
    id: job.id,
    runId: job.run.id,
    attempt: job.attempt,
    repo: fullName(job.run.repository),
    repositoryId: job.run.repository.id,
    name: job.name,
    labels: job.labels,
    hosted: job.hosted,
    status: job.status,
    conclusion: job.conclusion,
    runnerName: job.runner?.name ?? null,
    leftQueueAt: job.leftQueueAtMs === null ? null : new Date(job.leftQueueAtMs).toISOString(),
    killed: job.killed,
  };
}

function registrationTruth(world: World, record: RunnerRecord): RegistrationTruth {
  const { id, name, scope, registeredAt, goneAt, jobIds } = record;
  return { id, name, scope, registeredAt, goneAt, jobIds, inExcess: isInExcess(world, record) };
}

/**
 * A runner that was coming then and died before it came was no supply. So its replacement is not in
 * excess.
 */
function isInExcess(world: World, { isCovered, jobIds }: RunnerRecord): boolean {
  return isCovered !== null && jobIds.length === 0 && isCovered((runner) => mayCome(world, runner));
}

/** How many examples of each finding the report has. */
const FIRST = 5;

/** The world in figures, without copying it. */
export function reportOf(world: World): Report {
  const jobs = [...world.jobs.values()];
  const completed = jobs.filter(({ status }) => status === 'completed').length;
  const records = [...world.runnerRecords.values()];
  return {
    jobs: jobs.length,
    completed,
    lost: jobs.length - completed,
    killed: jobs.filter(({ killed }) => killed).length,
    registrations: records.length,
    excessWorkers: records.filter((record) => isInExcess(world, record)).length,
    calls: Object.fromEntries(world.calls),
    callsAgainstWait: world.callsAgainstWait.length,
    firstAgainstWait: world.callsAgainstWait.slice(0, FIRST),
    struck: Object.fromEntries(world.struck),
    deliveries: world.deliveries.length,
    failedDeliveries: world.deliveries.filter(
      ({ statusCode }) => statusCode < 200 || statusCode >= 400,
    ).length,
    redelivered: world.deliveries.filter(({ redelivery }) => redelivery).length,
  };
}
