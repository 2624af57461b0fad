import { findOverdueWorkers, type OverdueWorker } from '@paddock/db/workers/overdue-workers';
import { type RunnerReading, saveRunnerReadings } from '@paddock/db/workers/runner-readings';
import {
  findHeldStops,
  findStopsWithoutTask,
  requestStops,
  type StopRequest,
} from '@paddock/db/workers/worker-stops';
import { lookUpJobsTask } from '@paddock/domain/tasks/sweep-names';
import { stopTask, WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';
import { judgeWorker } from '@paddock/domain/workers/why-stop';
import { runnerSays } from '@paddock/domain/workers/may-end';
import { JOBLESS_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';
import { isRunnerOf } from '@paddock/domain/workers/worker-name';
import { getRunner, type GitHubRunner } from '@paddock/github/runners';
import type { InstallationClient } from '@paddock/github/connect';
import { enqueue, enqueueAlone } from '@paddock/queue/enqueue';
import { done, type Outcome } from '@paddock/queue/kind';
import { createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { createReadRunners, type ListedRunners, scopeOf } from './read-runners.ts';

/**
 * Finds workers past a deadline and requests their stop: pods that do not start, runners that were
 * never online, idle or lost ones, and those that stay after their job. Asks GitHub about all
 * overdue workers of a scope at once. Ends no worker: the stop itself collects the proofs.
 */
export async function checkWorkers(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, github, events, config } = context;
  const { dryRun } = pass;
  const overdue = await findOverdueWorkers(db, {
    readingsApartMs: config.runnerReadingsApartMs,
    appIds: github.appIds,
    limit: config.overdueOfPass,
  });
  const stops: StopRequest[] = overdue
    .filter(({ isPending }) => isPending)
    .map(({ podName }) => ({ podName, reason: 'pending_timeout' }));
  const counts = {
    /** Workers past a deadline. */
    overdue: overdue.length,
    /** Workers with a busy runner: assigned from now on, job unknown. */
    busy: 0,
    /** Scopes without an answer from GitHub, or with a list that cannot be complete. */
    unread: 0,
  };
  const askFor = createAskGitHub(context, pass, ({ what }, failure) =>
    events.runnersNotRead(what, failure),
  );
  const readRunners = await createReadRunners(db);
  const running = overdue.filter(({ isPending }) => !isPending);
  const scopes = [...Map.groupBy(running, scopeOf).values()];
  await pass.walk(scopes as [OverdueWorker, ...OverdueWorker[]][], {
    entityOf: ([{ entityId }]) => entityId,
    keyOf: ([first]) => scopeOf(first),
    async visit(workers, turn) {
      const [first] = workers;
      const ask = askFor({ ...first, repoId: first.scopeRepoId }, turn);
      const read = await readRunners(first, ask, async (listed, client) => ({
        readings: await readingsOf(workers, listed, turn.hasFailedLong ? client : undefined),
        registered: listed.registered.length,
      }));
      const found = read?.readings;
      if (found === undefined) {
        counts.unread += 1;
        if (read !== undefined) events.runnersMissing(first.login, read.registered);
        return false;
      }
      counts.busy += found.filter(({ isBusy }) => isBusy).length;
      stops.push(...(await judge(context, { workers, readings: found, dryRun })));
      return true;
    },
  });
  const chosen = inOrderOf(overdue, stops).slice(0, config.stopsOfPass);
  const held = await findHeldStops(db, config.stopAlertMs);
  events.stopsHeldUp(held);
  return done({
    ...counts,
    /** Overdue workers whose stop this pass requested. */
    stopping: dryRun ? chosen.length : await request(context, chosen),
    /** Stops without a task. */
    forgotten: await takeUpForgotten(context, dryRun),
    heldUp: held.length,
  });
}

/** With at most this many registered workers, a list without any of our runners may be complete. */
const FEW_WORKERS = 1;

/**
 * What a list says of a scope's workers. If it has none of our runners although several are
 * registered, GitHub is asked for each by its id, where `byId` is a client; else undefined.
 */
async function readingsOf(
  workers: readonly OverdueWorker[],
  { scope, ours, registered }: ListedRunners,
  byId: InstallationClient | undefined,
): Promise<RunnerReading[] | undefined> {
  if (ours.length > 0 || registered.length <= FEW_WORKERS) return readings(workers, ours);
  if (byId === undefined) return undefined;
  const found: GitHubRunner[] = [];
  const withId = workers.filter(({ runnerId }) => runnerId !== null);
  for (const { runnerId } of withId) {
    const runner = await getRunner(byId, scope, Number(runnerId));
    if (runner !== undefined) found.push(runner);
  }
  return readings(withId, found);
}

function readings(
  workers: readonly OverdueWorker[],
  runners: readonly GitHubRunner[],
): RunnerReading[] {
  const byName = new Map(runners.map((runner) => [runner.name, runner]));
  return workers.map(({ podName, runnerId }) => {
    const named = byName.get(podName);
    const runner =
      named !== undefined && isRunnerOf({ podName, runnerId }, named) ? named : undefined;
    return {
      podName,
      runnerId: runner?.id ?? null,
      isOnline: runner?.online ?? false,
      isBusy: runner?.busy ?? false,
    };
  });
}

/** The stops in the workers' order, in which scopes alternate: no scope may use up the cap. */
function inOrderOf(
  overdue: readonly OverdueWorker[],
  stops: readonly StopRequest[],
): StopRequest[] {
  const byName = new Map(stops.map((stop) => [stop.podName, stop]));
  return overdue.flatMap(({ podName }) => byName.get(podName) ?? []);
}

async function judge(
  { db, config }: SweepContext,
  {
    workers,
    readings: all,
    dryRun,
  }: { workers: readonly OverdueWorker[]; readings: readonly RunnerReading[]; dryRun: boolean },
): Promise<StopRequest[]> {
  const saved = new Map(
    dryRun ? [] : (await saveRunnerReadings(db, all)).map((read) => [read.podName, read]),
  );
  const byName = new Map(all.map((reading) => [reading.podName, reading]));
  return workers.flatMap((worker) => {
    const { podName } = worker;
    const reading = byName.get(podName);
    if (reading === undefined) return [];
    const known = saved.get(podName) ?? {
      wasOnline: worker.wasOnline || reading.isOnline,
      offlineForMs:
        reading.runnerId !== null && !reading.isOnline ? (worker.offlineForMs ?? 0) : null,
    };
    const reason = judgeWorker(
      {
        ...worker,
        wasOnline: known.wasOnline,
        offlineForMs: known.offlineForMs,
        runner: runnerSays(
          reading.runnerId !== null
            ? { online: reading.isOnline, busy: reading.isBusy }
            : undefined,
        ),
      },
      { offlineMs: config.runnerOfflineMs },
    );
    return reason === undefined ? [] : [{ podName, reason }];
  });
}

const JOBLESS: ReadonlySet<StopReason> = new Set(JOBLESS_REASONS);

async function request(
  { db, events }: SweepContext,
  stops: readonly StopRequest[],
): Promise<number> {
  if (stops.length === 0) return 0;
  const asked = await db.transaction().execute(async (trx) => {
    const workers = await requestStops(trx, stops);
    const names = new Set(workers.map(({ podName }) => podName));
    const isJobless = stops.some(
      ({ podName, reason }) => names.has(podName) && JOBLESS.has(reason),
    );
    await enqueue(trx, [...workers.map(stopTask), ...(isJobless ? [lookUpJobsTask] : [])]);
    return names;
  });
  events.stopsRequested(stops.filter(({ podName }) => asked.has(podName)));
  return asked.size;
}

const MOST_FORGOTTEN = 1_000;

async function takeUpForgotten(
  { db, events, config }: SweepContext,
  dryRun: boolean,
): Promise<number> {
  const kind = WORKER_TASK.stopWorker;
  const workers = await findStopsWithoutTask(db, {
    kind,
    olderThanMs: config.forgottenStopMs,
    limit: MOST_FORGOTTEN,
  });
  if (workers.length === 0 || dryRun) return workers.length;
  await enqueueAlone(db, workers.map(stopTask));
  events.stopsWithoutTask(workers);
  return workers.length;
}
