import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import type { Kysely } from 'kysely';
import { matchAndEnqueue } from '../match/passes.ts';
import type { Running } from './neighbour.ts';

/** The rest after a pass is this many times the pass' duration, as in the scheduler. */
const REST = 3;

/** Runs passes one after the other, as under load, where every delivery asks for one. */
export function startMatching(db: Kysely<Database>): Running {
  const stopping = new AbortController();
  const counts = { done: 0, failures: 0 };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      try {
        await matchAndEnqueue(db);
        counts.done += 1;
      } catch {
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
