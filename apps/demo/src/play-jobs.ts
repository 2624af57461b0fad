import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import type { Flags } from './flags.ts';
import { observe } from './summary.ts';
import type { Progress } from './progress.ts';
import { type PlannedJob, planJobs } from './scenario.ts';
import { furnish, queueJobs, rerunCompleted } from './send-jobs.ts';
import type { System } from './start-system.ts';

const LOOK_EVERY_MS = 100;
/** After this long without any change, jobs that have not completed count as lost. */
const STILL_MS = 60_000;

export interface Stage {
  flags: Flags;
  system: System;
  db: Kysely<Database>;
  progress: Progress;
}

/**
 * Queues the jobs and shows their progress until all have ended, or nothing moves for a while.
 * Resolves with the seconds that took.
 */
export async function playJobs(stage: Stage, signal: AbortSignal): Promise<number> {
  const { flags, system, progress } = stage;
  await furnish(system.github);
  await system.github.settled();
  await system.github.setDeliveryFaults({ lossRate: flags.loss });
  const loss =
    flags.loss > 0
      ? `, which fails to deliver ${Math.round(flags.loss * 100)} % of its events at first`
      : '';
  progress.say(`Queueing ${flags.jobs} jobs at GitHub${loss}.`);

  const began = performance.now();
  const queued = new Map<number, PlannedJob>();
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const sending = queueJobs(system.github, planJobs(flags.jobs), queued, until);
  const following = followJobs(stage, queued, until);
  try {
    await Promise.race([Promise.all([sending, following]), system.broken]);
  } finally {
    over.abort();
    await Promise.allSettled([sending, following]);
  }
  return (performance.now() - began) / 1_000;
}

async function followJobs(
  { flags, system, db, progress }: Stage,
  queued: Map<number, PlannedJob>,
  signal: AbortSignal,
): Promise<void> {
  let last = '';
  let movedAt = performance.now();
  while (!signal.aborted && performance.now() - movedAt < STILL_MS) {
    const { completedIds, ...seen } = await observe(db);
    const report = await system.github.report();
    await rerunCompleted(system.github, queued, completedIds);
    progress.show({
      GitHub: `${report.deliveries} deliveries, ${report.failedDeliveries} failed, ${report.redelivered} repeated`,
      stored: `${seen.stored}/${flags.jobs} jobs, ${seen.waiting} waiting`,
      workers: `${seen.workers} made, ${seen.workersAlive} alive`,
      running: String(seen.running),
      completed: `${seen.completed}/${flags.jobs}`,
    });
    if (seen.completed >= flags.jobs && seen.workersAlive === 0) return;
    const now = JSON.stringify([seen, report.deliveries]);
    if (now !== last) movedAt = performance.now();
    last = now;
    await pause(LOOK_EVERY_MS, signal);
  }
  if (!signal.aborted)
    progress.say(`Nothing has moved for ${STILL_MS / 1_000} s, so this demo waits no longer.`);
}
