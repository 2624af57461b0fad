import {
  createDeliveryEvents,
  type DeliveryEventsOptions,
} from '@paddock/db/deliveries/delivery-events';
import { githubAsksToWait } from '@paddock/db/entities/waits';
import type { JoblessEnd } from '@paddock/db/jobs/jobs-in-doubt';
import type { LookUpNote } from '@paddock/db/jobs/look-ups';
import type { StoredJob } from '@paddock/db/jobs/store-jobs';
import type { HeldStop, StopRequest } from '@paddock/db/workers/worker-stops';
import type { EndingVersion } from '@paddock/db/workers/runner-versions';
import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import type { GitHubFailure } from '@paddock/github/errors';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import { line, listed, tellEvents } from '@paddock/runtime/events';

/** A question that GitHub did not answer, and the installation it went through. */
export interface Unanswered {
  readonly what: string;
  readonly installationId: number;
}

/** Undefined: GitHub does not show us the object. */
type FailureIfShown = GitHubFailure | undefined;

interface Tick {
  readonly schedule: string;
  readonly tickAt: Date;
  readonly missed: number;
}

const TABLE = {
  githubAsksToWait,

  // Schedules and tasks.
  tickTaken: (tick: Tick) => line.debug('took a tick', tick),
  ticksMissed: (tick: Tick) => line.warn('no process took some ticks of a schedule', tick),
  scheduleFailed: (error: unknown) =>
    line.error('could not read the schedules or the clock; trying again', { error }),
  sweepOverdue: (sweep: string, seconds: number, why: string) =>
    line.error('a sweep has not succeeded for several cadences: it repairs nothing meanwhile', {
      sweep,
      forSeconds: Math.round(seconds),
      why,
    }),
  sweepSucceedsAgain: (sweep: string) => line.info('a sweep succeeds again', { sweep }),
  answerUnusable: (sweep: string, object: string, error: unknown) =>
    line.error(
      'what GitHub or the cluster says of an object cannot be stored: it is asked about again later, and others go on',
      { sweep, object, error },
    ),
  notificationRefused: (problem: string) =>
    line.error('could not tell people what they must act on: trying again', { problem }),
  tracesRefused: (problem: string) =>
    line.warn('could not send the traces of ended jobs: trying again', { problem }),
  tasksRecovered: (count: number) => line.warn('recovered stuck tasks', { count }),

  // GitHub's log of deliveries.
  redelivered: (appId: number, deliveryGuid: string) =>
    line.info('asked GitHub to repeat a delivery', { appId, deliveryGuid }),
  redeliveryRefused: (appId: number, deliveryGuid: string, failure: GitHubFailure) =>
    line.warn('GitHub did not repeat a delivery', { appId, deliveryGuid, failure }),
  deliveryUnusable: (appId: number, deliveryGuid: string, problem: string) =>
    line.warn('could not store a delivery of GitHub’s log', { appId, deliveryGuid, problem }),
  listingFailed: (appId: number, failure: GitHubFailure) =>
    line.warn('listing the delivery log broke off', { appId, failure }),
  redeliveriesGivenUp: (appId: number, count: number) =>
    line.error('gave up deliveries: GitHub can no longer repeat them', { appId, count }),
  /** After a failover, a restore, or when another endpoint answered in our place. */
  deliveredWithoutRow: (appId: number, deliveryGuids: readonly string[]) =>
    line.error(
      'we lost deliveries that GitHub calls successful: GitHub is asked to repeat them, unless redeliver is paused; find out where many were lost',
      { appId, ...listed(deliveryGuids) },
    ),

  // Jobs, compared with GitHub's.
  workersMisused: (stored: readonly StoredJob[]) =>
    line.warn(
      'jobs run on workers whose pool does not serve them: check who may use the runner group',
      listed(stored.filter(({ isMisused }) => isMisused).map(({ jobId }) => jobId)),
    ),
  jobsRecovered: (jobIds: readonly number[]) =>
    line.warn('looking up stuck jobs at GitHub', listed(jobIds)),
  jobsFailedUnasked: (jobIds: readonly number[]) =>
    line.error(
      'failed stuck jobs: GitHub has not answered about them for too long',
      listed(jobIds),
    ),
  jobLookedUp: ({ jobId, verdict }: LookUpNote) =>
    line.debug('looked up a job', { jobId, verdict: verdict.kind }),
  jobRequeued: (jobId: number) =>
    line.warn('GitHub calls a job queued that had a worker: it waits again', { jobId }),
  jobFailed: (jobId: number, reason: string) =>
    line.warn('failed a job after GitHub’s answer', { jobId, reason }),
  joblessEnds: (ends: readonly JoblessEnd[]) =>
    line.warn(
      'runners succeeded without a job: check their pool’s image and command',
      listed(ends),
    ),
  notAnswered: (
    sweep: 'look-up-jobs' | 'discover-jobs',
    asked: Unanswered,
    failure: FailureIfShown,
  ) =>
    line.warn(
      failure === undefined
        ? 'GitHub does not show us an object: check the App’s installation'
        : 'GitHub gave no answer of use',
      { sweep, ...asked, failure },
    ),
  jobsDiscovered: (found: readonly { event: string; jobId: number }[]) =>
    line.warn('found jobs that no delivery announced', listed(found)),
  jobsMisjudged: (jobIds: readonly number[]) =>
    line.error('GitHub completed jobs that we had failed', listed(jobIds)),

  // Workers, and what is left of them.
  versionEnds: ({ pool, version, daysLeft }: EndingVersion) =>
    line.warn(
      daysLeft > 0
        ? 'GitHub will soon stop serving a pool’s runner version: give the pool a newer image'
        : 'GitHub no longer serves a pool’s runner version: give the pool a newer image',
      { pool, version, daysLeft: Math.floor(daysLeft) },
    ),
  versionNotRead: (pool: string, podName: string, failure: KubeFailure) =>
    line[levelOf(failure)]('could not read a runner’s version from its log', {
      pool,
      podName,
      failure,
    }),
  versionEndUnknown: (pool: string, failure: FailureIfShown) =>
    line.warn('GitHub did not say when a pool’s runner version ends', { pool, failure }),
  stopsRequested: (stops: readonly StopRequest[]) =>
    line.warn('requested the stop of workers past a deadline', listed(stops)),
  stopsWithoutTask: (workers: readonly WorkerOfTask[]) =>
    line.warn('enqueued stops of workers again that had no task', listed(workers)),
  stopsHeldUp: (stops: readonly HeldStop[]) =>
    line.error('workers cannot be stopped: see the obstacle of each stop', listed(stops)),
  runnersNotRead: (entity: string, failure: FailureIfShown) =>
    line.warn('could not read the runners of an entity from GitHub', { entity, failure }),
  runnersMissing: (entity: string, workers: number) =>
    line.warn('ignored GitHub’s list without our runners, although some are registered', {
      entity,
      workers,
    }),
  podNotDeleted: (podName: string, failure: KubeFailure) =>
    line[levelOf(failure)]('could not delete the pod of an ended worker', { podName, failure }),
  podStillRuns: (podName: string, phase: string) =>
    line.warn('left the pod of an ended worker alone: the pod still runs', { podName, phase }),
  secretsForgotten: (podNames: readonly string[]) =>
    line.warn('removing Secrets of ended workers again: they may still exist', listed(podNames)),
  registrationRemoved: (podName: string) =>
    line.info('removed a registration with our name and without a live worker', { podName }),
  registrationSecretNotRemoved: (podName: string, failure: KubeFailure) =>
    line.warn(
      'could not remove the Secret of a registration without a live worker; trying both again',
      { podName, failure },
    ),
  /** For example after a restore: an operator must check them. */
  tooManyStrays: (login: string, count: number, cap: number) =>
    line.error(
      'removed no registration of an entity that no row names, since there are more than the cap: check our rows',
      { login, count, cap },
    ),

  // Apps and clocks.
  appNotChecked: (appId: number, failure: GitHubFailure) =>
    line.warn('could not check a GitHub App', { appId, failure }),
  tooManyUnlisted: (appId: number, missing: number) =>
    line.error('GitHub’s list lacks too many installations of an App: ignored the list', {
      appId,
      missing,
    }),
  clocksDiffer: (aheadSeconds: number) =>
    line.error('PostgreSQL’s clock and ours disagree: set right the one that is wrong', {
      aheadSeconds: Math.round(aheadSeconds),
    }),
  instantsMended: (rows: Readonly<Record<string, number>>) =>
    line.warn('PostgreSQL’s clock was ahead for a time: instants that it left are now', { rows }),
};

/** The reconciler's events. Each function writes the log line of one event and counts it. */
export type ReconcilerEvents = ReturnType<typeof createEvents>;

export function createEvents(given: DeliveryEventsOptions) {
  const events = tellEvents(TABLE, given);
  return {
    ...events,
    ...createDeliveryEvents(given),
    tickTaken: (schedule: string, tickAt: Date, missed: number) =>
      events[missed > 0 ? 'ticksMissed' : 'tickTaken']({ schedule, tickAt, missed }),
    jobsLookedUp(notes: readonly LookUpNote[]) {
      for (const note of notes) {
        if (note.verdict.kind === 'requeued') events.jobRequeued(note.jobId);
        else if (note.verdict.kind === 'failed') events.jobFailed(note.jobId, note.verdict.message);
        else events.jobLookedUp(note);
      }
    },
  };
}
