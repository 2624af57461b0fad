import { setTimeout as sleep } from 'node:timers/promises';
import type { GitHubControl, JobTruth } from '@paddock/simulators/github/control';
import { evenShare } from '@paddock/simulators/even-share';
import { complaintsOf } from './complaints.ts';
import type { Fault, Progress } from './fault.ts';
import { lookAt, type Left } from './look-at.ts';
import { waitedAfter } from './after-fault.ts';
import { readSigns, type Signs, signsSince } from './signs.ts';
import { LONE_REPOSITORY, REPOSITORIES, type Stage } from './stage.ts';

/** The result of a run with one fault. */
export interface Played extends Left {
  readonly fault: string;
  readonly jobs: number;
  /** From the first job to the moment at which nothing was left, or to the end of patience. */
  readonly seconds: number;
  /**
   * For the jobs without a runner when the fault ended: how much later each had one, in seconds, in
   * order.
   */
  readonly afterFault: readonly number[];
  /** Calls of GitHub that were made although GitHub had asked their caller to wait. */
  readonly callsAgainstWait: number;
  /** The signs of the fault. */
  readonly signs: Signs;
}

export interface PlayOptions {
  readonly jobs: number;
  /** How long the run may take to settle once its jobs are queued. */
  readonly patienceMs: number;
  /**
   * The time over which the jobs are spread, in milliseconds; by default it follows from their
   * number and the fault.
   */
  readonly lastsMs?: number;
}

const BETWEEN_JOBS_MS = 60;
/** At default times: two thirds of the registrations that an entity may have in a minute. */
const EVERYDAY_MS = 300;
/**
 * A few jobs also get time, or the fault would hit none; more at default times, and where much
 * fails at once.
 */
const LEAST_MS = 3_000;
const LEAST_LONG_MS = 12_000;
const USUAL_JOB_MS = [200, 2_000] as const;
/** The longest time in the queue of a job that is cancelled; every other one has no time there. */
const CANCEL_WITHIN_MS = 500;
const LOOK_EVERY_MS = 500;

/** Queues jobs while the fault is at work, and watches until nothing is left. */
export async function playFault(
  stage: Stage,
  fault: Fault,
  { jobs, patienceMs, lastsMs = usualLength(fault, jobs) }: PlayOptions,
): Promise<Played> {
  const { github, cluster, broken } = stage;
  const before = await readSigns(stage);
  const begun = performance.now();
  await github.setDeliveryFaults(fault.deliveries ?? {});
  await github.setRunnerFaults({ busyLies: fault.busyLies ?? false });
  await cluster.setRunnerFaults(fault.runners ?? {});
  const { progress, advance, held, overAt } = createProgress(lastsMs);
  const meanwhile = await fault.begin?.(stage, progress);
  const acting = meanwhile?.().then(() => [], messagesOf) ?? Promise.resolve([]);
  const queueing = queueJobs(stage, fault, { jobs, lastsMs, advance, held });
  const [queued, failures] = await Promise.race([Promise.all([queueing, acting]), broken]);
  const ids = [...queued.keys()];
  const left = await Promise.race([untilSettled(stage, ids, patienceMs), broken]);
  const seconds = (performance.now() - begun) / 1_000;
  const signs = signsSince(before, await readSigns(stage));
  const afterFault = waitedAfter(overAt(), queued, (await github.truth()).jobs);
  const { callsAgainstWait, firstAgainstWait } = await github.report();
  const unsettled = [
    ...failures,
    ...left.unsettled,
    ...complaintsOf(fault, jobs, { ...left, signs, callsAgainstWait, firstAgainstWait }),
  ];
  return {
    fault: fault.name,
    jobs,
    ...left,
    unsettled,
    seconds,
    afterFault,
    callsAgainstWait,
    signs,
  };
}

/** The signs that a fault waited for in vain, in words. */
const messagesOf = (error: unknown): string[] => [
  error instanceof Error ? error.message : String(error),
];

function usualLength({ atUsualTimes = false, stretch = 1 }: Fault, jobs: number): number {
  const least = atUsualTimes || stretch > 1 ? LEAST_LONG_MS : LEAST_MS;
  return Math.max(least, jobs * (atUsualTimes ? EVERYDAY_MS : BETWEEN_JOBS_MS)) * stretch;
}

/** `overAt` returns milliseconds since the epoch; undefined if nothing came back. */
function createProgress(
  lastsMs: number,
): Pick<Queueing, 'advance' | 'held'> & { progress: Progress; overAt: () => number | undefined } {
  let reachedShare = 0;
  let holding: Promise<unknown> = Promise.resolve();
  let over: number | undefined;
  const waiting = new Map<() => void, number>();
  return {
    progress: {
      lastsMs,
      share: () => reachedShare,
      reached(share) {
        const { promise, resolve } = Promise.withResolvers<void>();
        if (reachedShare >= share) resolve();
        else waiting.set(resolve, share);
        return promise;
      },
      holdUp: (until) => void (holding = Promise.allSettled([holding, until])),
      over: () => void (over = Date.now()),
    },
    held: () => holding,
    overAt: () => over,
    advance(share) {
      reachedShare = share;
      for (const [resolve, wanted] of waiting) if (share >= wanted) resolve();
    },
  };
}

type NewJob = Parameters<GitHubControl['queueJob']>[0];

interface Queueing {
  readonly jobs: number;
  readonly lastsMs: number;
  readonly advance: (share: number) => void;
  /** Resolves when the next job may be queued. */
  readonly held: () => Promise<unknown>;
}

/**
 * Queues the jobs evenly over the run. Returns their ids, each with the instant of its queueing, in
 * milliseconds since the epoch.
 */
async function queueJobs(
  { github, environments, random }: Stage,
  fault: Fault,
  { jobs, lastsMs, advance, held }: Queueing,
): Promise<Map<number, number>> {
  const queuedAt = new Map<number, number>();
  const queued: JobTruth[] = [];
  const cancelling: Promise<unknown>[] = [];
  const isCancelled = evenShare(random);
  const [least, most] = fault.jobMs ?? USUAL_JOB_MS;
  const begun = performance.now();
  for (let index = 0; index < jobs; index++) {
    await sleep(Math.max(0, begun + (index * lastsMs) / jobs - performance.now()));
    await held();
    const isFirst = fault.oneFirst === true && index < jobs / 3;
    const repo = isFirst
      ? REPOSITORIES[0]
      : (REPOSITORIES[index % REPOSITORIES.length] ?? REPOSITORIES[0]);
    // Not by the same remainder as the repository: else each environment would see only one
    // repository.
    const { labels } = environments[
      Math.floor(index / REPOSITORIES.length) % environments.length
    ] ?? { labels: [] };
    const durationMs = least + random() * (most - least);
    const job = {
      repo,
      labels,
      durationMs,
      ...(fault.unannounced === true ? unannouncedJob(queued) : {}),
      ...(index === loneIndex(fault, jobs) ? loneJob(fault) : {}),
    };
    const truth = await github.queueJob(job);
    const { id } = truth;
    queuedAt.set(id, Date.now());
    queued.push(truth);
    if (isCancelled(fault.cancelShare ?? 0)) {
      const inMs = cancelling.length % 2 === 0 ? 0 : random() * CANCEL_WITHIN_MS;
      cancelling.push(sleep(inMs).then(() => github.cancelJob(id)));
    }
    advance(queued.length / jobs);
  }
  await Promise.all(cancelling);
  return queuedAt;
}

const loneJob = ({ unannounced }: Fault): Partial<NewJob> => ({
  repo: LONE_REPOSITORY,
  event: 'schedule',
  runId: undefined,
  unannounced,
});

/** The index of the lone job among the jobs, if there is one. */
const loneIndex = ({ lone }: Fault, jobs: number): number | undefined =>
  lone === undefined ? undefined : Math.min(Math.floor(lone * jobs), jobs - 1);

/**
 * The special options of the next job where GitHub does not announce some: two in five. One of
 * these joins the run of the job before the last.
 */
function unannouncedJob(queued: readonly JobTruth[]): Partial<NewJob> {
  const known = queued.at(-2);
  switch (queued.length % REPOSITORIES.length) {
    case 1:
      return { unannounced: true };
    case 2:
      return { unannounced: true, runId: known?.runId };
    default:
      return {};
  }
}

/** Waits until nothing is left, or patience ends; returns the remains. */
async function untilSettled(
  stage: Stage,
  jobIds: readonly number[],
  patienceMs: number,
): Promise<Left> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await lookAt(stage, jobIds);
    if (left.unsettled.length === 0 || performance.now() > deadline) return left;
    await sleep(LOOK_EVERY_MS);
  }
}
