import { setTimeout as sleep } from 'node:timers/promises';
import { API } from '@paddock/api/endpoints';
import { messageOf } from '@paddock/api/findings/findings';
import { rowsOf } from '@paddock/db/rows';
import { CHROMIUM, openBoard } from '@paddock/testing/chromium';
import { startConsole } from '@paddock/testing/processes';
import { say } from '../bench.ts';
import type { Stage } from '../stage/stage.ts';
import type { Fault, Progress } from './fault.ts';
import { complaintsOf, othersStarts, waitedAfter } from './judge.ts';
import { lookAt, type Left } from './look-at.ts';
import { queueJobs } from './queue-jobs.ts';
import { readSigns, signsSince } from './signs.ts';

/** The result of a run with one fault. */
export type Played = Awaited<ReturnType<typeof playFault>>;

const BETWEEN_JOBS_MS = 60;
/** At default times: two thirds of the registrations that an entity may have in a minute. */
const EVERYDAY_MS = 300;
/**
 * A few jobs also get time, or the fault would hit none; more at default times, and where much
 * fails at once.
 */
const LEAST_MS = 3_000;
const LEAST_LONG_MS = 12_000;
const LOOK_EVERY_MS = 500;
const READ_BOARD_EVERY_MS = 250;
/** From the first job that is held back until the first line of the board says why. */
const NAMED_WITHIN_MS = 5_000;
/** From the last job that is queued: how long a fault may hold back none. */
const HELD_WITHIN_MS = 120_000;

/**
 * Queues jobs while the fault is at work, and watches until nothing is left. `patienceMs`: how long
 * that may take once the jobs are queued.
 */
export async function playFault(stage: Stage, fault: Fault, jobs: number, patienceMs: number) {
  const { github, cluster, broken } = stage;
  const lastsMs = lengthOf(fault, jobs);
  const before = await readSigns(stage);
  await github.setDeliveryFaults(fault.deliveries ?? {});
  await github.setRunnerFaults({ busyLies: fault.busyLies ?? false });
  await cluster.setRunnerFaults(fault.runners ?? {});
  const { progress, advance, held, overAt, readBoard } = createProgress();
  const meanwhile = await fault.begin?.(stage, progress);
  const board = await bringBoard(stage, fault);
  const begun = performance.now();
  const acting = Promise.resolve(meanwhile?.()).then(
    () => [],
    (error: unknown) => [messageOf(error)],
  );
  const unheld = progress.reached(1).then(() => sleep(HELD_WITHIN_MS, 0, { ref: false }));
  const end = Promise.race([acting, unheld]);
  const watching = watchBoard(stage, fault, board, end).finally(readBoard);
  const queueing = queueJobs(stage, fault, { jobs, lastsMs, advance, held });
  const [queued, ...failures] = await Promise.race([
    Promise.all([queueing, acting, watching]),
    broken,
  ]);
  const ids = [...queued.keys()];
  const left = await Promise.race([untilSettled(stage, ids, patienceMs), broken]);
  const seconds = (performance.now() - begun) / 1_000;
  const signs = signsSince(before, await readSigns(stage));
  const truth = await github.truth();
  const { callsAgainstWait, firstAgainstWait } = await github.report();
  const unsettled = [
    ...failures.flat(),
    ...left.unsettled,
    ...complaintsOf(fault, jobs, { ...left, signs, callsAgainstWait, firstAgainstWait }),
  ];
  return {
    fault: fault.name,
    jobs,
    ...left,
    unsettled,
    /** From the first job to the moment at which nothing was left, or to the end of patience. */
    seconds,
    /**
     * For the jobs without a runner when the fault ended: how much later each had one, in seconds,
     * in order.
     */
    afterFault: waitedAfter(overAt(), queued, truth.jobs),
    /** None where the fault hits everybody. */
    othersStarts: othersStarts(fault.hit, queued, truth.jobs),
    /** Calls of GitHub that were made although GitHub had asked their caller to wait. */
    callsAgainstWait,
    signs,
  };
}

/** The time over which the jobs are spread, in milliseconds. */
function lengthOf(
  { atUsualTimes = false, stretch = 1, betweenJobsMs }: Fault,
  jobs: number,
): number {
  const least = atUsualTimes || stretch > 1 ? LEAST_LONG_MS : LEAST_MS;
  const between = betweenJobsMs ?? (atUsualTimes ? EVERYDAY_MS : BETWEEN_JOBS_MS);
  return Math.max(least, jobs * between) * stretch;
}

/** `overAt` returns milliseconds since the epoch; undefined if nothing came back. */
function createProgress() {
  let reachedShare = 0;
  let holding: Promise<unknown> = Promise.resolve();
  let over: number | undefined;
  const board = Promise.withResolvers<void>();
  const waiting = new Map<() => void, number>();
  const advance = (share: number): void => {
    reachedShare = share;
    for (const [resolve, wanted] of waiting) if (share >= wanted) resolve();
  };
  const progress: Progress = {
    share: () => reachedShare,
    reached: (share) =>
      new Promise((resolve) => {
        waiting.set(resolve, share);
        advance(reachedShare);
      }),
    boardRead: () => board.promise,
    holdUp: (until) => void (holding = Promise.allSettled([holding, until])),
    over: () => void (over = Date.now()),
  };
  return {
    progress,
    held: () => holding,
    overAt: () => over,
    readBoard: () => board.resolve(),
    advance,
  };
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

/** The board as a person sees it; where there is no Chromium, as the API tells it. */
async function bringBoard({ postgres, environment: { db, schema } }: Stage, { board }: Fault) {
  if (board === undefined) return undefined;
  const caller = { db, person: 'faults', from: 'terminal' } as const;
  if (CHROMIUM === undefined)
    return {
      by: 'the API (there is no Chromium)',
      async read() {
        const [first] = (await API.listDiagnoses.answer(caller, {})).items;
        return `${first?.sentence} ${first?.advice}`;
      },
    };
  const asked = { name: 'faults', access: 'read', oneTime: true };
  const { token } = await API.createToken.answer(caller, API.createToken.input.parse(asked));
  const { at, stop } = await startConsole(postgres.url(), schema);
  const opening = openBoard(CHROMIUM, `${at}/#sign-in=${token}`);
  opening.catch(stop);
  const { read, close } = await opening;
  return { by: 'the page', read, close: () => Promise.all([close(), stop()]) };
}

/**
 * Watches the first line of the board until it names the cause. Resolves with a complaint where it
 * does not in time, or where the fault held back no job until `end`.
 */
async function watchBoard(
  { environment: { db } }: Stage,
  { name, board: cause, hit }: Fault,
  board: Awaited<ReturnType<typeof bringBoard>>,
  end: Promise<unknown>,
): Promise<string[]> {
  if (board === undefined || cause === undefined) return [];
  const over = end.then(() => true);
  let heldAt: number | undefined;
  try {
    while (!(await Promise.race([over, sleep(READ_BOARD_EVERY_MS, false)]))) {
      // While GitHub is asked about unexplained ends, nothing has failed yet.
      const held = await rowsOf(db)`
      select from jobs join demand_keys using (demand_key)
      where wants_worker and wait_reason <> 'unexplained_ends' and (${hit === undefined} or repo_full_name = any(${hit?.repositories ?? []})) limit 1`;
      // What holds a job back for a moment may be over before the board is read.
      heldAt = held.length > 0 ? (heldAt ?? performance.now()) : undefined;
      const said = await board.read();
      const lateMs = performance.now() - (heldAt ?? Infinity);
      if (heldAt !== undefined && cause.test(said)) {
        say(`${name}: ${board.by} names the cause after ${(lateMs / 1_000).toFixed(1)} s: ${said}`);
        return [];
      }
      if (lateMs > NAMED_WITHIN_MS)
        return [`The first line of ${board.by} does not say why jobs are held back, but ${said}`];
    }
    return ['The fault held back no job, so the board had nothing to name.'];
  } finally {
    await board.close?.();
  }
}
