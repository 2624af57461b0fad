import { fullName } from './accounts.ts';
import type { JobTruth, RegistrationTruth, Report, Truth } from './control.ts';
import type { Job } from './job.ts';
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
    registrations: [...world.runnerRecords.values()].map(registrationTruth),
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
    killed: job.killed,
  };
}

function registrationTruth(record: RunnerRecord): RegistrationTruth {
  const { id, name, scope, registeredAt, goneAt, jobIds, coveredAtMaking } = record;
  return { id, name, scope, registeredAt, goneAt, jobIds, coveredAtMaking, inExcess: isInExcess(record) };
}

function isInExcess({ coveredAtMaking, jobIds }: RunnerRecord): boolean {
  return coveredAtMaking && jobIds.length === 0;
}

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
    excessWorkers: records.filter(isInExcess).length,
    calls: Object.fromEntries(world.calls),
    deliveries: world.deliveries.length,
    failedDeliveries: world.deliveries.filter(({ statusCode }) => statusCode < 200 || statusCode >= 400).length,
    redelivered: world.deliveries.filter(({ redelivery }) => redelivery).length,
  };
}
