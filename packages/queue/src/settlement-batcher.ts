import { createWake } from '@paddock/runtime/wake';
import { pause } from '@paddock/runtime/pause';
import { isRefused, type ClaimSettlement } from './write-settlements.ts';

export interface SettlementBatcherOptions<T extends ClaimSettlement> {
  /** Writes one batch. Returns the ids of the tasks whose claim still held. */
  readonly write: (batch: readonly T[]) => Promise<Set<string>>;
  /** Replaces a settlement whose content PostgreSQL refuses. It must not refuse the new one. */
  readonly replace: (refused: T, error: unknown) => T;
  /** Called once per settlement. `held`: the claim still held, so the settlement was written. */
  readonly onSettled: (settled: T, held: boolean) => void;
  readonly onError: (error: unknown) => void;
}

export interface SettlementBatcher<T extends ClaimSettlement> {
  add(settlement: T): void;
  /** Writes until the signal aborts. Then drops the rest: those claims expire. */
  run(signal: AbortSignal): Promise<void>;
}

const LARGEST_BATCH = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const IDLE_MS = 60_000;

/**
 * Collects settlements while the last batch is written. Keeps all of them while PostgreSQL is away.
 */
export function createSettlementBatcher<T extends ClaimSettlement>({
  write,
  replace,
  onSettled,
  onError,
}: SettlementBatcherOptions<T>): SettlementBatcher<T> {
  const waiting: T[] = [];
  let pauseMs = FIRST_PAUSE_MS;
  const wake = createWake();

  /** Returns the results that PostgreSQL could not write now: the caller tries them again. */
  async function writeBatch(batch: readonly T[]): Promise<readonly T[]> {
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
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) return writeReplaced(replace(only, error));
      const left: T[] = [];
      for (const entry of batch) left.push(...(await writeBatch([entry])));
      return left;
    }
  }

  async function writeReplaced(replaced: T): Promise<readonly T[]> {
    try {
      onSettled(replaced, (await write([replaced])).has(replaced.claim.id));
      return [];
    } catch (error) {
      onError(error);
      return [replaced];
    }
  }

  return {
    add(entry) {
      waiting.push(entry);
      wake.ring();
    },
    async run(signal) {
      while (!signal.aborted) {
        if (waiting.length === 0) await wake.wait(IDLE_MS, signal);
        const left: T[] = [];
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
function batchesOf<T extends ClaimSettlement>(settlements: readonly T[]): T[][] {
  const ended = settlements.filter(({ settlement }) => settlement.to !== 'queued');
  const others = settlements.filter(({ settlement }) => settlement.to === 'queued');
  return [...(ended.length === 0 ? [] : [ended]), ...others.map((entry) => [entry])];
}
