import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import { matchAndEnqueue } from '../match/passes.ts';

/** The rest after a pass is this many times the pass' duration, as in the scheduler. */
const REST = 3;

/** Runs passes one after the other, as under load, where every delivery asks for one. */
export interface Matching {
  /** Ends after the pass that is under way; later calls give the same result. */
  stop(): Promise<{ passes: number; made: number; failures: number }>;
}

export function startMatching(db: Kysely<Database>): Matching {
  const stopping = new AbortController();
  const counts = { passes: 0, made: 0, failures: 0 };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      try {
        counts.made += await matchAndEnqueue(db);
        counts.passes += 1;
      } catch {
        // Counted and shown: a single one would be a defect.
        counts.failures += 1;
      }
      await pause(REST * (performance.now() - began), stopping.signal);
    }
    return counts;
  };
  const ended = run();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
}
