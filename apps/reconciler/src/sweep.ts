import { EVERY_SWEEP, findPause, type PausedSweep } from '@paddock/db/schedules/paused-sweeps';
import { noteSweepSuccess } from '@paddock/db/schedules/sweep-states';
import type { Database } from '@paddock/db/schema/tables';
import type { Kind, Kinds } from '@paddock/queue/kind';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { classifyGitHubError } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { scheduleOf } from './schedules/sweep-schedules.ts';
import { untilPaused } from './until-paused.ts';

/** What one pass of a sweep is told. */
export interface Pass {
  readonly task: Pick<Task, 'subject' | 'payload'>;
  readonly signal: AbortSignal;
  /** Only count what would be done: nothing is written, and GitHub and the cluster are only read. */
  readonly dryRun: boolean;
}

/** A check of the reconciler, as a kind of task. What a pass counts is its operation's output. */
export interface Sweep extends Omit<Kind, 'handler'> {
  pass(pass: Pass): Promise<Outcome>;
}

/** A sweep whose passes only count: their operation is done, and nothing follows. */
export const counting = (slots: number, once: (pass: Pass) => Promise<object>): Sweep => ({
  slots,
  pass: async (pass) => done(await once(pass)),
});

/**
 * The sweeps as kinds of tasks. Right before a pass, and every `pauseCheckMs` during it, the database says whether the sweep is paused; then
 * the task ends well with what was done until then, and says so. A pass that ended well is noted with its schedule. A dry run, asked for by the payload `{ "dryRun": true }`, runs all the same.
 */
export function kindsOf(db: Kysely<Database>, sweeps: Readonly<Record<string, Sweep>>, pauseCheckMs = 2_000): Kinds {
  return Object.fromEntries(
    Object.entries(sweeps).map(([name, { pass, ...kind }]) => [
      name,
      {
        ...kind,
        handler: async (task, signal) => {
          if (isDryRun(task.payload)) {
            const outcome = await pass({ task, signal, dryRun: true });
            return outcome.outcome === 'done' ? done(Object.assign({ dryRun: true }, outcome.output)) : outcome;
          }
          const pause = await findPause(db, name);
          if (pause !== undefined) return done(describePause(pause));
          const run = (stop: AbortSignal) => pass({ task, signal: stop, dryRun: false }).catch(untilAllowed);
          const { result = done(), pausedBy } = await untilPaused({ db, name, everyMs: pauseCheckMs }, signal, run);
          if (pausedBy === undefined && result.outcome === 'done') await noteSweepSuccess(db, scheduleOf(task));
          if (pausedBy === undefined || result.outcome !== 'done') return result;
          return done(Object.assign(describePause(pausedBy), result.output));
        },
      } satisfies Kind,
    ]),
  );
}

/** A pass that comes to nothing because GitHub has asked us to wait begins again at the second that GitHub named. Everything else is thrown on. */
function untilAllowed(error: unknown): Outcome {
  const { kind, retryAfterMs = 0, message } = classifyGitHubError(error);
  if (kind !== 'rate_limited') throw error;
  return snooze(retryAfterMs, message);
}

const describePause = ({ name, pausedBy, pausedAt }: PausedSweep) => ({
  paused: name === EVERY_SWEEP ? 'all sweeps' : 'this sweep',
  pausedBy,
  pausedAt,
});

const isDryRun = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'dryRun' in payload && payload.dryRun === true;
