import { EVERY_SWEEP, findPause } from '@paddock/db/paused-sweeps';
import type { Database } from '@paddock/db/tables';
import type { Kind, Kinds } from '@paddock/queue/kind';
import { done, type Outcome } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import type { Kysely } from 'kysely';

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
 * The sweeps as kinds of tasks. Right before a pass the database says whether the sweep is paused; then the task ends well, having done
 * nothing, and says so. A dry run, asked for by the payload `{ "dryRun": true }`, runs all the same.
 */
export function kindsOf(db: Kysely<Database>, sweeps: Readonly<Record<string, Sweep>>): Kinds {
  return Object.fromEntries(
    Object.entries(sweeps).map(([name, { pass, ...kind }]) => [
      name,
      {
        ...kind,
        handler: async (task, signal) => {
          const dryRun = isDryRun(task.payload);
          const pause = dryRun ? undefined : await findPause(db, name);
          if (pause !== undefined) {
            const { pausedBy, pausedAt } = pause;
            return done({ paused: pause.name === EVERY_SWEEP ? 'all sweeps' : 'this sweep', pausedBy, pausedAt });
          }
          const outcome = await pass({ task, signal, dryRun });
          return dryRun && outcome.outcome === 'done' ? done(Object.assign({ dryRun }, outcome.output)) : outcome;
        },
      } satisfies Kind,
    ]),
  );
}

const isDryRun = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'dryRun' in payload && payload.dryRun === true;
