import {
  findOverdueWorkers,
  type OverdueQuery,
  type OverdueWorker,
} from '@paddock/db/workers/overdue-workers';
import { type RunnerReading, saveRunnerReadings } from '@paddock/db/workers/runner-readings';
import {
  findHeldStops,
  findStopsWithoutTask,
  requestStops,
  type StopRequest,
} from '@paddock/db/workers/worker-stops';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import { stopTask, WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';
import { judgeWorker } from '@paddock/domain/workers/judge-worker';
import { runnerSays } from '@paddock/domain/workers/nothing-runs';
import { JOBLESS_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';
import type { GitHub } from '@paddock/github/connect';
import { enqueue, enqueueAlone } from '@paddock/queue/enqueue';
import type { ReconcilerEvents } from '../events.ts';
import { createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { type ReadingRunners, readRunners } from './read-runners.ts';

export interface CheckWorkersOptions extends ReadingRunners {
  readonly github: GitHub;
  readonly events: Pick<
    ReconcilerEvents,
    'runnersNotRead' | 'runnersMissing' | 'stopsRequested' | 'stopsWithoutTask' | 'stopsHeldUp'
  >;
  readonly query: OverdueQuery;
  /** Most stops that one pass requests. */
  readonly cap: number;
  /** How long GitHub must call the runner of a running pod offline. */
  readonly offlineMs: number;
  /** Age at which a stop without a task gets one. */
  readonly forgottenAfterMs: number;
  /** How long a stop may be held up before it is reported. */
  readonly alertAfterMs: number;
}

export interface CheckedWorkersCounts {
  /** Workers past a deadline. */
  overdue: number;
  /** Overdue workers whose stop this pass requested. */
  stopping: number;
  /** Workers with a busy runner: assigned from now on, job unknown. */
  busy: number;
  /** Scopes without an answer from GitHub, or with a list that cannot be complete. */
  unread: number;
  /** Stops without a task. */
  forgotten: number;
  heldUp: number;
}

/**
 * Finds workers past a deadline and requests their stop: pods that do not start, runners that were
 * never online, idle or lost ones, and those that stay after their job. Asks GitHub about all
 * overdue workers of a scope at once. Ends no worker: the stop itself collects the proofs.
 */
export async function checkWorkers(
  options: CheckWorkersOptions,
  pass: Pass,
): Promise<CheckedWorkersCounts> {
  const { db, github, events, query, cap } = options;
  const { dryRun } = pass;
  const overdue = await findOverdueWorkers(db, query);
  const stops: StopRequest[] = overdue
    .filter(({ isPending }) => isPending)
    .map(({ podName }) => ({ podName, reason: 'pending_timeout' }));
  const counts = { overdue: overdue.length, busy: 0, unread: 0 };
  const askFor = createAskGitHub({
    db,
    github,
    pass,
    onUnanswered: ({ what }, failure) => events.runnersNotRead(what, failure),
  });
  const running = overdue.filter(({ isPending }) => !isPending);
  const scopes = [...Map.groupBy(running, scopeOf).values()];
  await pass.walk(scopes as [OverdueWorker, ...OverdueWorker[]][], {
    entityOf: ([{ entityId }]) => entityId,
    keyOf: ([first]) => scopeOf(first),
    async visit(workers, turn) {
      const [first] = workers;
      const ask = askFor({ ...first, repoId: first.scopeRepoId }, turn);
      const { hasFailedLong } = turn;
      const read = await readRunners(options, workers, { ask, hasFailedLong });
      if (read === undefined) counts.unread += 1;
      else {
        counts.busy += read.filter(({ isBusy }) => isBusy).length;
        stops.push(...(await judge(options, { workers, read, dryRun })));
      }
      return read !== undefined;
    },
  });
  const chosen = inOrderOf(overdue, stops).slice(0, cap);
  const stopping = dryRun ? chosen.length : await request(options, chosen);
  const forgotten = await takeUpForgotten(options, dryRun);
  const held = await findHeldStops(db, options.alertAfterMs);
  events.stopsHeldUp(held);
  return { ...counts, stopping, forgotten, heldUp: held.length };
}

/** The stops in the workers' order, in which scopes alternate: no scope may use up the cap. */
function inOrderOf(
  overdue: readonly OverdueWorker[],
  stops: readonly StopRequest[],
): StopRequest[] {
  const byName = new Map(stops.map((stop) => [stop.podName, stop]));
  return overdue.flatMap(({ podName }) => byName.get(podName) ?? []);
}

const scopeOf = ({ entityId, scopeRepoId }: OverdueWorker): string => `${entityId} ${scopeRepoId}`;

async function judge(
  { db, offlineMs }: CheckWorkersOptions,
  {
    workers,
    read: readings,
    dryRun,
  }: { workers: readonly OverdueWorker[]; read: readonly RunnerReading[]; dryRun: boolean },
): Promise<StopRequest[]> {
  const saved = new Map(
    dryRun ? [] : (await saveRunnerReadings(db, readings)).map((read) => [read.podName, read]),
  );
  const byName = new Map(readings.map((reading) => [reading.podName, reading]));
  return workers.flatMap((worker) => {
    const { podName } = worker;
    const reading = byName.get(podName);
    if (reading === undefined) return [];
    const known = saved.get(podName) ?? {
      wasOnline: worker.wasOnline || reading.isOnline,
      offlineForMs: reading.isKnown && !reading.isOnline ? (worker.offlineForMs ?? 0) : null,
    };
    const reason = judgeWorker(
      {
        ...worker,
        wasOnline: known.wasOnline,
        offlineForMs: known.offlineForMs,
        runner: runnerSays(
          reading.isKnown ? { online: reading.isOnline, busy: reading.isBusy } : undefined,
        ),
      },
      { offlineMs },
    );
    return reason === undefined ? [] : [{ podName, reason }];
  });
}

const JOBLESS: ReadonlySet<StopReason> = new Set(JOBLESS_REASONS);

async function request(
  { db, events }: CheckWorkersOptions,
  stops: readonly StopRequest[],
): Promise<number> {
  if (stops.length === 0) return 0;
  const asked = await db.transaction().execute(async (trx) => {
    const names = await requestStops(trx, stops);
    const isJobless = stops.some(
      ({ podName, reason }) => names.includes(podName) && JOBLESS.has(reason),
    );
    await enqueue(trx, [...names.map(stopTask), ...(isJobless ? [lookUpJobsTask] : [])]);
    return new Set(names);
  });
  events.stopsRequested(stops.filter(({ podName }) => asked.has(podName)));
  return asked.size;
}

const MOST_FORGOTTEN = 1_000;

async function takeUpForgotten(
  { db, events, forgottenAfterMs }: CheckWorkersOptions,
  dryRun: boolean,
): Promise<number> {
  const kind = WORKER_TASK.stopWorker;
  const podNames = await findStopsWithoutTask(db, {
    kind,
    olderThanMs: forgottenAfterMs,
    limit: MOST_FORGOTTEN,
  });
  if (podNames.length === 0 || dryRun) return podNames.length;
  await enqueueAlone(db, podNames.map(stopTask));
  events.stopsWithoutTask(podNames);
  return podNames.length;
}
