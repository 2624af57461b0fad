import type { WantedPasses } from '@paddock/db/turns/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/redelivery-schedule';
import { loop } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import { createWake } from '@paddock/runtime/wake';

/** After what a delivery was the first one that was stored: then others may have failed before it, and only GitHub's log names them. */
export type Gap = 'start' | 'refusal' | 'silence';

export interface Gaps {
  /** A delivery was answered with 503. */
  refused(): void;
  /** A delivery of the App was stored. */
  stored(appId: number): void;
  /** Has the delivery logs looked at; what could not be said is said again. */
  run(signal: AbortSignal): Promise<void>;
}

export interface GapsOptions {
  readonly want: (passes: WantedPasses) => Promise<void>;
  readonly onGap: (appId: number, gap: Gap) => void;
  readonly onError: (error: unknown) => void;
  /** In milliseconds. */
  readonly now?: () => number;
}

/** A busy App is never silent for so long. In a quieter one something before us may have been down. */
const SILENCE_MS = 60_000;

/** A quiet App's silences cost a look at its log in so long, as much as the reconciler's own looks. */
const SILENCES_APART_MS = 300_000;

/** GitHub waits 10 s for an answer, so what failed at the end of a gap is in its log so much later. */
const LATE_MS = 12_000;

/** A gap so long after the one told before it is looked at now. A sooner one shares the looks that go on: trouble may last, and looks cost. */
const URGENT_AFTER_MS = 10_000;

/** While deliveries are refused and stored in turns, each App's log is asked for this often at most. */
const APART_MS = 1_000;

/**
 * Notices when deliveries may have failed here, and has GitHub's log of them looked at as soon as one is stored again, instead of at the
 * next cycle (E1). Each replica knows its own gaps only; what they want is folded in the database.
 */
export function createGaps({ want, onGap, onError, now = () => performance.now() }: GapsOptions): Gaps {
  const startedAt = now();
  let refusedAt = Number.NEGATIVE_INFINITY;
  const storedAt = new Map<number, number>();
  const untold = new Map<number, Gap>();
  const toldAt = new Map<number, number>();
  const wake = createWake();

  function gapBefore(last: number | undefined, at: number): Gap | undefined {
    if ((last ?? startedAt) <= refusedAt) return 'refusal';
    if (last === undefined) return 'start';
    return at - last >= SILENCE_MS ? 'silence' : undefined;
  }

  /** A silence is the least of what is to be told of an App. */
  function noteGap(appId: number, gap: Gap): void {
    if (gap !== 'silence' || !untold.has(appId)) untold.set(appId, gap);
  }

  async function tell(signal: AbortSignal): Promise<void> {
    for (const [appId, gap] of untold) {
      untold.delete(appId);
      const isUrgent = now() - (toldAt.get(appId) ?? Number.NEGATIVE_INFINITY) >= URGENT_AFTER_MS;
      const following = gap === 'silence' ? { restMs: SILENCES_APART_MS } : { forMs: LATE_MS, isUrgent };
      try {
        await want({ schedule: redeliverySchedule(appId), ...following });
      } catch (error) {
        noteGap(appId, gap);
        throw error;
      }
      toldAt.set(appId, now());
      onGap(appId, gap);
    }
    await pause(APART_MS, signal);
  }

  return {
    refused: () => {
      refusedAt = now();
    },
    stored: (appId) => {
      const at = now();
      const gap = gapBefore(storedAt.get(appId), at);
      storedAt.set(appId, at);
      if (gap === undefined) return;
      noteGap(appId, gap);
      wake.ring();
    },
    run: async (signal) => {
      const tellIfAny = () => (untold.size === 0 ? Promise.resolve() : tell(signal));
      await loop(tellIfAny, { wake, intervalMs: APART_MS, onError }, signal);
    },
  };
}
