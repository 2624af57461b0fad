import { lookAtSchedules, takeExtraPasses } from '@paddock/db/schedules/extra-passes';
import { takeTick } from '@paddock/db/schedules/schedules';
import type { Database } from '@paddock/db/schema/tables';
import { bringForward } from '@paddock/queue/bring-forward';
import { enqueue } from '@paddock/queue/enqueue';
import type { NewTask } from '@paddock/queue/new-task';
import { loop } from '@paddock/runtime/loop';
import { createWake } from '@paddock/runtime/wake';
import type { Kysely } from 'kysely';
import { schedule as cron } from 'node-cron';
import { cronExpression } from './cron-expression.ts';
import type { ReconcilerEvents } from '../events.ts';
import { missedTicks, nominalTick } from './nominal-tick.ts';

/** Recurring work: at each tick its task is enqueued, once in the cluster. */
export interface Schedule {
  name: string;
  everySeconds: number;
  task: NewTask;
}

export interface SchedulesOptions {
  db: Kysely<Database>;
  schedules: readonly Schedule[];
  /** Who we are, written beside the ticks that we took. */
  holder: string;
  events: Pick<ReconcilerEvents, 'tickTaken' | 'scheduleFailed'>;
  /**
   * How often the newest ticks are looked for beside node-cron, in milliseconds: for a clock that differs from PostgreSQL's, and after
   * PostgreSQL was away.
   */
  lookMs?: number;
}

const LOOK_MS = 5_000;

/**
 * The schedules of one replica (E9). Every replica runs them; PostgreSQL's clock says which tick is the newest, and the row of the schedule
 * gives each tick to one of them. A tick that nobody could take at its time is taken as soon as somebody can, unless the next one has come.
 */
export function createSchedules({ db, schedules, holder, events, lookMs = LOOK_MS }: SchedulesOptions) {
  /** The newest tick of each schedule that is known to be taken, so that PostgreSQL is asked once per tick only. */
  const taken = new Map<string, number>();

  const takeNewest = async ({ name, everySeconds, task }: Schedule, now: Date): Promise<boolean> => {
    const tickAt = nominalTick(now, everySeconds);
    if ((taken.get(name) ?? Number.NEGATIVE_INFINITY) >= tickAt.getTime()) return false;
    const tick = await db.transaction().execute(async (trx) => {
      const mine = await takeTick(trx, { name, tickAt, takenBy: holder });
      if (mine !== undefined) await enqueue(trx, [task]);
      return mine;
    });
    taken.set(name, tickAt.getTime());
    if (tick === undefined) return false;
    events.tickTaken(name, tickAt, missedTicks(tick.previousTickAt, tickAt, everySeconds));
    return true;
  };

  const names = schedules.map(({ name }) => name);

  /** Enqueues the extra passes that are due. A task that is queued for later comes now, unless a breaker holds it. */
  const takeExtra = (): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const due = new Set(await takeExtraPasses(trx, names));
      const tasks = schedules.flatMap(({ name, task }) => (due.has(name) ? [task] : []));
      const queued = (await enqueue(trx, tasks)).filter(({ existed }) => existed);
      await bringForward(
        trx,
        queued.map(({ id }) => id),
      );
    });

  /** Until the next look, in milliseconds. */
  let restMs = lookMs;

  /** Takes whatever ticks and extra passes are there to be taken; returns how many ticks. */
  const once = async (): Promise<number> => {
    restMs = lookMs;
    const { now, extraInMs } = await lookAtSchedules(db, names);
    let count = 0;
    for (const schedule of schedules) if (await takeNewest(schedule, now)) count++;
    if (extraInMs === null) return count;
    if (extraInMs <= 0) await takeExtra();
    // Where some were taken the next look, at once, learns when further ones are wanted.
    restMs = Math.min(Math.max(extraInMs, 0), lookMs);
    return count;
  };

  const wake = createWake();
  const run = async (signal: AbortSignal): Promise<void> => {
    const bells = [...new Set(schedules.map(({ everySeconds }) => everySeconds))].map((everySeconds) =>
      cron(expressionOf(everySeconds), () => wake.ring(), { timezone: 'Etc/UTC', suppressMissedWarning: true }),
    );
    try {
      await loop(once, { wake, intervalMs: () => restMs, onError: events.scheduleFailed }, signal);
    } finally {
      for (const bell of bells) await bell.destroy();
    }
  };

  return { once, run, wake: () => wake.ring() };
}

function expressionOf(everySeconds: number): string {
  const expression = cronExpression(everySeconds);
  if (expression === undefined) {
    throw new RangeError(`A schedule cannot run every ${everySeconds} s: take a part of a minute, of an hour or of a day.`);
  }
  return expression;
}
