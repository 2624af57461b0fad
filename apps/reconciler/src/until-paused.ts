import { findPause, type PausedSweep } from '@paddock/db/schedules/paused-sweeps';
import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';

export interface PauseSwitch {
  readonly db: Kysely<Database>;
  /** The sweep, by the kind of its task. */
  readonly name: string;
  readonly subjectId: string;
  readonly everyMs: number;
}

/**
 * Runs a pass and aborts its signal once the sweep is paused, as when the process stops. Returns
 * the pass's result, if it has one, and the pause. If the pause cannot be read, aborts the pass and
 * throws PostgreSQL's error.
 */
export async function untilPaused<T>(
  { db, name, subjectId, everyMs }: PauseSwitch,
  signal: AbortSignal,
  pass: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly result?: T; readonly pausedBy?: PausedSweep }> {
  const [over, stop] = [new AbortController(), new AbortController()];
  const watching = (async () => {
    for (;;) {
      await pause(everyMs, over.signal);
      if (over.signal.aborted) return undefined;
      const found = await findPause(db, name, subjectId);
      if (found === undefined) continue;
      stop.abort(new Error(`The sweep ${name} was paused by ${found.pausedBy}.`));
      return found;
    }
  })();
  watching.catch((error: unknown) => stop.abort(error)); // thrown below, after the pass
  try {
    const result = await pass(AbortSignal.any([signal, stop.signal]));
    over.abort();
    const pausedBy = await watching;
    return { result, ...(pausedBy === undefined ? {} : { pausedBy }) };
  } catch (error) {
    over.abort();
    const pausedBy = await watching;
    if (pausedBy === undefined || error !== stop.signal.reason) throw error;
    return { pausedBy };
  }
}
