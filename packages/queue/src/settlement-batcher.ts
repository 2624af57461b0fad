import { createWake } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import type { Finished } from './executor-events.ts';
import { isRefused } from './write-settlements.ts';

export interface SettlementBatcherOptions {
  /** Writes one batch. Returns the ids of the tasks whose claim still held. */
  readonly write: (batch: readonly Finished[]) => Promise<Set<string>>;
  /** Replaces a settlement whose content PostgreSQL refuses. It must not refuse the new one. */
  readonly replace: (refused: Finished, error: unknown) => Finished;
  /** Called once per settlement. `held`: the claim still held, so the settlement was written. */
  readonly onSettled: (settled: Finished, held: boolean) => void;
  readonly onError: (error: unknown) => void;
}

const LARGEST_BATCH = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const IDLE_MS = 60_000;

/**
 * Collects settlements while the last batch is written. Keeps all of them while PostgreSQL is away.
 */
export function createSettlementBatcher(options: SettlementBatcherOptions) {
  const { write, replace, onSettled, onError } = options;
  const waiting: Finished[] = [];
  let pauseMs = FIRST_PAUSE_MS;
  const wake = createWake();

  /** Returns the settlements that the caller has to write again. */
  async function writeBatch(batch: readonly Finished[]): Promise<readonly Finished[]> {
    try {
      const held = await write(batch);
      for (const entry of batch) onSettled(entry, held.has(entry.claim.id));
      pauseMs = FIRST_PAUSE_MS;
      return [];
    } catch (error) {
      if (!isRefused(error)) {
        onError(error);
        return batch;
      }
      if (batch.length === 1) return batch.map((only) => replace(only, error));
      const left: Finished[] = [];
      for (const entry of batch) left.push(...(await writeBatch([entry])));
      return left;
    }
  }

  return {
    add(entry: Finished) {
      waiting.push(entry);
      wake.ring();
    },
    /** Writes until the signal aborts. Then drops the rest: those claims expire. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        if (waiting.length === 0) await wake.wait(IDLE_MS, signal);
        const left: Finished[] = [];
        for (const batch of batchesOf(waiting.splice(0, LARGEST_BATCH)))
          left.push(...(await writeBatch(batch)));
        if (left.length === 0) continue;
        waiting.unshift(...left);
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    },
  };
}

/**
 * Ended tasks share a batch. A requeued task may have to wait for an enqueuer, so it has its own.
 */
function batchesOf(settlements: readonly Finished[]): Finished[][] {
  const ended = settlements.filter(({ settlement }) => settlement.to !== 'queued');
  const others = settlements.filter(({ settlement }) => settlement.to === 'queued');
  return [...(ended.length === 0 ? [] : [ended]), ...others.map((entry) => [entry])];
}
