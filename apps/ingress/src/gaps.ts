import type { WantedPasses } from '@paddock/db/schedules/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/redelivery-schedule';
import { loop } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import { createWake } from '@paddock/runtime/wake';

/** After what a delivery was the first one that was stored: then others may have failed before it, and only GitHub's log names them. */
export type Gap = 'start' | 'refusal' | 'turned_away' | 'silence';

/** These may have cost no delivery: ingress may have turned a stranger away, or GitHub sent nothing. */
const UNSURE: ReadonlySet<Gap> = new Set<Gap>(['turned_away', 'silence']);

export interface Gaps {
  /** A delivery of the App was answered with 503. */
  refused(appId: number): void;
  /** Something was answered with 503 before its signature could be checked: a delivery of any App, or a stranger's body. */
  turnedAway(): void;
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
  /** The pause after each round of telling. */
  readonly rest?: typeof pause;
}

/** A busy App is never silent for so long. In a quieter one something before us may have been down. */
const SILENCE_MS = 60_000;

/** Unsure gaps ask for an App's log at most once in this time. So strangers and quiet nights cost no more than our own cadence. */
const UNSURE_APART_MS = 300_000;

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
export function createGaps({ want, onGap, onError, now = () => performance.now(), rest = pause }: GapsOptions): Gaps {
  const startedAt = now();
  let turnedAwayAt = Number.NEGATIVE_INFINITY;
  const refusedAt = new Map<number, number>();
  const storedAt = new Map<number, number>();
  const untold = new Map<number, Gap>();
  const toldAt = new Map<number, number>();
  const unsureAt = new Map<number, number>();
  const wake = createWake();

  function gapBefore(appId: number, at: number): Gap | undefined {
    const last = storedAt.get(appId);
    if ((last ?? startedAt) <= (refusedAt.get(appId) ?? Number.NEGATIVE_INFINITY)) return 'refusal';
    if (last === undefined) return 'start';
    if (at - (unsureAt.get(appId) ?? Number.NEGATIVE_INFINITY) < UNSURE_APART_MS) return undefined;
    if (last <= turnedAwayAt) return 'turned_away';
    return at - last >= SILENCE_MS ? 'silence' : undefined;
  }

  function noteGap(appId: number, gap: Gap): void {
    if (!UNSURE.has(gap) || !untold.has(appId)) untold.set(appId, gap);
  }

  function wantedAfter(appId: number, gap: Gap): Omit<WantedPasses, 'schedule'> {
    if (gap === 'silence') return { restMs: UNSURE_APART_MS };
    if (gap === 'turned_away') return { forMs: LATE_MS, restMs: UNSURE_APART_MS };
    return { forMs: LATE_MS, isUrgent: now() - (toldAt.get(appId) ?? Number.NEGATIVE_INFINITY) >= URGENT_AFTER_MS };
  }

  async function tell(appId: number, gap: Gap): Promise<void> {
    untold.delete(appId);
    try {
      await want({ schedule: redeliverySchedule(appId), ...wantedAfter(appId, gap) });
    } catch (error) {
      noteGap(appId, gap);
      wake.ring();
      throw error;
    }
    toldAt.set(appId, now());
    if (UNSURE.has(gap)) unsureAt.set(appId, now());
    onGap(appId, gap);
  }

  /** Gaps that come meanwhile have their turn after the rest, which follows a failure too. */
  async function tellAll(signal: AbortSignal): Promise<void> {
    const known = [...untold];
    try {
      for (const [appId, gap] of known) await tell(appId, gap);
    } finally {
      await rest(APART_MS, signal);
    }
  }

  return {
    refused: (appId) => void refusedAt.set(appId, now()),
    turnedAway: () => {
      turnedAwayAt = now();
    },
    stored: (appId) => {
      const at = now();
      const gap = gapBefore(appId, at);
      storedAt.set(appId, at);
      if (gap === undefined) return;
      noteGap(appId, gap);
      wake.ring();
    },
    run: async (signal) => {
      const tellIfAny = () => (untold.size === 0 ? Promise.resolve() : tellAll(signal));
      await loop(tellIfAny, { wake, intervalMs: APART_MS, onError }, signal);
    },
  };
}
