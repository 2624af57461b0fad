import { findOverdueWorkers, type OverdueWorker } from '@paddock/db/workers/overdue-workers';
import { readingOf, saveRunnerReadings } from '@paddock/db/workers/runner-readings';
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
import { createReadRunners, type ListedRunners, scopeKey } from './read-runners.ts';

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
  const scopes = [...Map.groupBy(running, scopeKey).values()];
  await pass.walk(scopes as [OverdueWorker, ...OverdueWorker[]][], {
    entityOf: ([{ entityId }]) => entityId,
    keyOf: ([first]) => scopeKey(first),
    async visit(workers, turn) {
      const [first] = workers;
      const ask = askFor({ ...first, repoId: first.scopeRepoId }, turn);
      const answer = await readRunners(first, ask, async (listed, client) => ({
        read: await readWorkers(workers, listed, turn.hasFailedLong ? client : undefined),
        registered: listed.registered.length,
      }));
      if (answer?.read === undefined) {
        counts.unread += 1;
        if (answer !== undefined) events.runnersMissing(first.login, answer.registered);
        return false;
      }
      counts.busy += answer.read.filter(({ runner }) => runner?.busy === true).length;
      stops.push(...(await judge(context, answer.read, dryRun)));
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

/** An overdue worker with its runner; undefined: GitHub does not know it. */
interface ReadWorker {
  readonly worker: OverdueWorker;
  readonly runner: GitHubRunner | undefined;
}

/**
 * What a list says of a scope's workers. If it has none of our runners although several are
 * registered, GitHub is asked for each by its id, where `byId` is a client; else undefined.
 */
async function readWorkers(
  workers: readonly OverdueWorker[],
  { scope, ours, registered }: ListedRunners,
  byId: InstallationClient | undefined,
): Promise<ReadWorker[] | undefined> {
  if (ours.length > 0 || registered.length <= FEW_WORKERS) {
    const byName = new Map(ours.map((runner) => [runner.name, runner]));
    return workers.map((worker) => withRunner(worker, byName.get(worker.podName)));
  }
  if (byId === undefined) return undefined;
  const read: ReadWorker[] = [];
  for (const worker of workers)
    if (worker.runnerId !== null)
      read.push(withRunner(worker, await getRunner(byId, scope, worker.runnerId)));
  return read;
}

const withRunner = (worker: OverdueWorker, found: GitHubRunner | undefined): ReadWorker => ({
  worker,
  runner: found !== undefined && isRunnerOf(worker, found) ? found : undefined,
});

/** The stops in the workers' order, in which scopes alternate: no scope may use up the cap. */
function inOrderOf(
  overdue: readonly OverdueWorker[],
  stops: readonly StopRequest[],
): StopRequest[] {
  const byName = new Map(stops.map((stop) => [stop.podName, stop]));
  return overdue.flatMap(({ podName }) => byName.get(podName) ?? []);
}

/** Saves what was read, unless in a dry run, and decides which workers are to stop. */
async function judge(
  { db, config }: SweepContext,
  read: readonly ReadWorker[],
  dryRun: boolean,
): Promise<StopRequest[]> {
  const readings = read.map(({ worker, runner }) => readingOf(worker.podName, runner));
  const saved = dryRun ? [] : await saveRunnerReadings(db, readings);
  const sums = new Map(saved.map((sum) => [sum.podName, sum]));
  return read.flatMap(({ worker, runner }) => {
    const { podName } = worker;
    const { wasOnline, offlineForMs } = sums.get(podName) ?? sumWith(worker, runner);
    const known = { ...worker, wasOnline, offlineForMs, runner: runnerSays(runner) };
    const reason = judgeWorker(known, { offlineMs: config.runnerOfflineMs });
    return reason === undefined ? [] : [{ podName, reason }];
  });
}

/** The sum of a worker's readings with one that is not saved. */
const sumWith = (
  { wasOnline, offlineForMs }: OverdueWorker,
  runner: GitHubRunner | undefined,
): Pick<OverdueWorker, 'wasOnline' | 'offlineForMs'> => ({
  wasOnline: wasOnline || runner?.online === true,
  offlineForMs: runner?.online === false ? (offlineForMs ?? 0) : null,
});

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
