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

/** The input of one pass. */
export interface Pass {
  readonly task: Pick<Task, 'subject' | 'payload'>;
  readonly signal: AbortSignal;
  /** Only count what would be done: write nothing, and only read GitHub and the cluster. */
  readonly dryRun: boolean;
}

/** A check of the reconciler, as a kind of task. A pass's counts become its operation's output. */
export interface Sweep extends Omit<Kind, 'handler'> {
  pass(pass: Pass): Promise<Outcome>;
}

/** A sweep whose passes return counts and enqueue no further task. */
export const counting = (slots: number, once: (pass: Pass) => Promise<object>): Sweep => ({
  slots,
  pass: async (pass) => done(await once(pass)),
});

/**
 * The sweeps as kinds of tasks. A pass reads before it starts, and every `pauseCheckMs`, whether
 * its sweep is paused. If so, the task ends as done, and its output says who paused the sweep. A
 * pass that succeeds is noted with its schedule. The payload `{ "dryRun": true }` makes a dry run,
 * which ignores pauses.
 */
export function kindsOf(
  db: Kysely<Database>,
  sweeps: Readonly<Record<string, Sweep>>,
  pauseCheckMs = 2_000,
): Kinds {
  return Object.fromEntries(
    Object.entries(sweeps).map(([name, { pass, ...kind }]) => [
      name,
      {
        ...kind,
        handler: async (task, signal) => {
          if (isDryRun(task.payload)) {
            const outcome = await pass({ task, signal, dryRun: true });
            return outcome.outcome === 'done'
              ? done(Object.assign({ dryRun: true }, outcome.output))
              : outcome;
          }
          const pause = await findPause(db, name, task.subject.id);
          if (pause !== undefined) return done(describePause(pause));
          const run = (stop: AbortSignal) =>
            pass({ task, signal: stop, dryRun: false }).catch(untilAllowed);
          const { result = done(), pausedBy } = await untilPaused(
            { db, name, subjectId: task.subject.id, everyMs: pauseCheckMs },
            signal,
            run,
          );
          if (pausedBy === undefined && result.outcome === 'done')
            await noteSweepSuccess(db, scheduleOf(task));
          if (pausedBy === undefined || result.outcome !== 'done') return result;
          return done(Object.assign(describePause(pausedBy), result.output));
        },
      } satisfies Kind,
    ]),
  );
}

/**
 * If GitHub asked the pass to wait, repeats the pass when GitHub allows it. Rethrows other errors.
 */
function untilAllowed(error: unknown): Outcome {
  const { kind, retryAfterMs = 0, message } = classifyGitHubError(error);
  if (kind !== 'rate_limited') throw error;
  return snooze(retryAfterMs, message);
}

const describePause = ({ name, pausedBy, pausedAt }: PausedSweep) => ({
  paused: name === EVERY_SWEEP ? 'all sweeps' : name.includes(':') ? 'this subject' : 'this sweep',
  pausedBy,
  pausedAt,
});

const isDryRun = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'dryRun' in payload && payload.dryRun === true;
