import { readScheduleTimes, takeExtraPasses, takeTick } from '@paddock/db/schedules/schedules';
import type { Db } from '@paddock/db/schema/tables';
import { enqueue, enqueueUrgent } from '@paddock/queue/enqueue';
import type { Schedule } from '@paddock/queue/sweep-schedules';
import { loop, createWake } from '@paddock/runtime/loop';
import { schedule as ringAt } from 'node-cron';
import type { ReconcilerEvents } from '../events.ts';
import { cronExpression, missedTicks, nominalTick } from './nominal-tick.ts';

export interface SchedulesOptions {
  db: Db;
  /** Those of now: an App comes and goes with its own. */
  schedules: () => readonly Schedule[];
  events: Pick<ReconcilerEvents, 'tickTaken' | 'scheduleFailed'>;
  /**
   * How often to check for new ticks without a ring of node-cron, in milliseconds: our clock may
   * differ from PostgreSQL's, and PostgreSQL may have been away.
   */
  lookMs?: number;
}

const LOOK_MS = 5_000;

/**
 * The schedules of one replica. Every replica runs them. node-cron rings at each tick. PostgreSQL's
 * clock decides which tick is the newest, and the schedule's row gives each tick to one replica. Of
 * the ticks missed in an outage, only the newest is taken.
 */
export function createSchedules({ db, schedules, events, lookMs = LOOK_MS }: SchedulesOptions) {
  /**
   * The tick of each schedule that was taken last, as far as we know: saves PostgreSQL a second
   * question.
   */
  const taken = new Map<string, number>();

  const takeNewest = async (
    { name, everySeconds, task }: Schedule,
    now: Date,
  ): Promise<boolean> => {
    const tickAt = nominalTick(now, everySeconds);
    if (taken.get(name) === tickAt.getTime()) return false;
    const tick = await db.transaction().execute(async (trx) => {
      const mine = await takeTick(trx, { name, tickAt });
      if (mine !== undefined) await enqueue(trx, [task]);
      return mine;
    });
    taken.set(name, tickAt.getTime());
    if (tick === undefined) return false;
    events.tickTaken(name, tickAt, missedTicks(tick.previousTickAt, tickAt, everySeconds));
    return true;
  };

  /** Enqueues the due extra passes. Brings a task that is queued for later forward to now. */
  const takeExtra = (all: readonly Schedule[]): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const due = new Set(await takeExtraPasses(trx, namesOf(all)));
      const tasks = all.flatMap(({ name, task }) => (due.has(name) ? [task] : []));
      await enqueueUrgent(trx, tasks);
    });

  /** Until the next check, in milliseconds. */
  let restMs = lookMs;

  /** Takes the ticks and extra passes that are due. Returns how many ticks. */
  const once = async (): Promise<number> => {
    restMs = lookMs;
    const all = schedules();
    const { now, extraInMs } = await readScheduleTimes(db, namesOf(all));
    let count = 0;
    for (const schedule of all) if (await takeNewest(schedule, now)) count++;
    if (extraInMs === null) return count;
    if (extraInMs <= 0) await takeExtra(all);
    // After taking some, check again at once to learn when the next ones are due.
    restMs = Math.min(Math.max(extraInMs, 0), lookMs);
    return count;
  };

  const wake = createWake();
  const run = async (signal: AbortSignal): Promise<void> => {
    const cadences = new Set(schedules().map(({ everySeconds }) => cronExpression(everySeconds)));
    const bells = [...cadences].map((cron) =>
      ringAt(cron, () => wake.ring(), { timezone: 'Etc/UTC', suppressMissedWarning: true }),
    );
    try {
      await loop(once, { wake, intervalMs: () => restMs, onError: events.scheduleFailed }, signal);
    } finally {
      for (const bell of bells) await bell.destroy();
    }
  };

  return { once, run, wake: () => wake.ring() };
}

const namesOf = (schedules: readonly Schedule[]): string[] => schedules.map(({ name }) => name);
