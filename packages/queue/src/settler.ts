import { createWake } from '@paddock/runtime/wake';
import { pause } from '@paddock/runtime/pause';
import { isRefused, type Settling } from './settle.ts';

export interface SettlerOptions<T extends Settling> {
  /** Writes one unit: answers the ids that were still ours. */
  readonly settle: (unit: readonly T[]) => Promise<Set<string>>;
  /** What becomes of a settlement that PostgreSQL refuses for its content. Must give one that cannot be refused. */
  readonly replace: (refused: T, error: unknown) => T;
  /** Told once for each. */
  readonly onSettled: (settled: T, ours: boolean) => void;
  readonly onError: (error: unknown) => void;
}

export interface Settler<T extends Settling> {
  add(settling: T): void;
  /** Settles what was added until the signal aborts; what is left then is dropped, and its leases run out. */
  run(signal: AbortSignal): Promise<void>;
}

const LARGEST_BATCH = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const IDLE_MS = 60_000;

/** Collects what ended while the last batch was written and writes that as the next one. Keeps all of it while PostgreSQL is away. */
export function createSettler<T extends Settling>({ settle, replace, onSettled, onError }: SettlerOptions<T>): Settler<T> {
  const waiting: T[] = [];
  let pauseMs = FIRST_PAUSE_MS;
  const wake = createWake();

  /** Gives back what could not be written now and has to be tried again. */
  async function settleUnit(unit: readonly T[]): Promise<readonly T[]> {
    try {
      const ours = await settle(unit);
      for (const settling of unit) onSettled(settling, ours.has(settling.claim.id));
      pauseMs = FIRST_PAUSE_MS;
      return [];
    } catch (error) {
      if (!isRefused(error)) {
        onError(error);
        return unit;
      }
      const [only] = unit;
      if (unit.length === 1 && only !== undefined) return settleReplaced(replace(only, error));
      const left: T[] = [];
      for (const settling of unit) left.push(...(await settleUnit([settling])));
      return left;
    }
  }

  async function settleReplaced(replaced: T): Promise<readonly T[]> {
    try {
      onSettled(replaced, (await settle([replaced])).has(replaced.claim.id));
      return [];
    } catch (error) {
      onError(error);
      return [replaced];
    }
  }

  return {
    add(settling) {
      waiting.push(settling);
      wake.ring();
    },
    async run(signal) {
      while (!signal.aborted) {
        if (waiting.length === 0) await wake.wait(IDLE_MS, signal);
        const left: T[] = [];
        for (const unit of unitsOf(waiting.splice(0, LARGEST_BATCH))) left.push(...(await settleUnit(unit)));
        if (left.length === 0) continue;
        waiting.unshift(...left);
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    },
  };
}

/** What ends goes together; what goes back may have to wait for somebody, and goes alone. */
export function unitsOf<T extends Settling>(settlings: readonly T[]): T[][] {
  const ended = settlings.filter(({ settlement }) => settlement.to !== 'queued');
  const others = settlings.filter(({ settlement }) => settlement.to === 'queued');
  return [...(ended.length === 0 ? [] : [ended]), ...others.map((settling) => [settling])];
}
