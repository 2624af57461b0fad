import type { WantedPasses } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { loop } from '@paddock/runtime/loop';
import { pause } from '@paddock/runtime/pause';
import { createWake } from '@paddock/runtime/wake';

/**
 * The time before the first stored delivery. Others may have failed then; only GitHub's log names
 * them.
 */
export type Gap = 'start' | 'refusal' | 'turned_away' | 'silence';

/** Perhaps no delivery failed: the refused sender may not be GitHub, or GitHub sent nothing. */
const UNSURE: ReadonlySet<Gap> = new Set<Gap>(['turned_away', 'silence']);

export interface Gaps {
  /** A delivery of the App was answered with 503. */
  refused(appId: number): void;
  /** A request got a 503 before its signature was checked: from any App or any other sender. */
  turnedAway(): void;
  /** A delivery of the App was stored. */
  stored(appId: number): void;
  /** Asks for passes over the delivery logs, again after a failure. */
  run(signal: AbortSignal): Promise<void>;
}

export interface GapsOptions {
  readonly want: (passes: WantedPasses) => Promise<void>;
  readonly onGap: (appId: number, gap: Gap) => void;
  readonly onError: (error: unknown) => void;
  /** In milliseconds. */
  readonly now?: () => number;
  /** The pause after each report. */
  readonly rest?: typeof pause;
}

/**
 * A busy App is never silent for this long. Otherwise something between GitHub and us may be down.
 */
const SILENCE_MS = 60_000;

/**
 * Least time between two unsure gaps of an App, so that forged requests and quiet nights cost
 * little.
 */
const UNSURE_APART_MS = 300_000;

/** GitHub waits 10 s for an answer, so its log shows a failure this much later. */
const LATE_MS = 12_000;

/**
 * A gap this long after the last report needs a pass now. A sooner one shares the passes under way.
 */
const URGENT_AFTER_MS = 10_000;

/** Least time between two reports, if deliveries are refused and stored alternately. */
const APART_MS = 1_000;

/**
 * Notices when deliveries may have failed here. Once one is stored again, it asks the reconciler to
 * read GitHub's log at once, not at the next sweep. Each replica knows only its own gaps; the
 * database merges their requests.
 */
export function createGaps({
  want,
  onGap,
  onError,
  now = () => performance.now(),
  rest = pause,
}: GapsOptions): Gaps {
  const startedAt = now();
  let turnedAwayAt = Number.NEGATIVE_INFINITY;
  const refusedAt = new Map<number, number>();
  const storedAt = new Map<number, number>();
  const unreported = new Map<number, Gap>();
  const reportedAt = new Map<number, number>();
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
    if (!UNSURE.has(gap) || !unreported.has(appId)) unreported.set(appId, gap);
  }

  function wantedAfter(appId: number, gap: Gap): Omit<WantedPasses, 'schedule'> {
    if (gap === 'silence') return { restMs: UNSURE_APART_MS };
    if (gap === 'turned_away') return { forMs: LATE_MS, restMs: UNSURE_APART_MS };
    return {
      forMs: LATE_MS,
      isUrgent: now() - (reportedAt.get(appId) ?? Number.NEGATIVE_INFINITY) >= URGENT_AFTER_MS,
    };
  }

  async function report(appId: number, gap: Gap): Promise<void> {
    unreported.delete(appId);
    try {
      await want({ schedule: redeliverySchedule(appId), ...wantedAfter(appId, gap) });
    } catch (error) {
      noteGap(appId, gap);
      wake.ring();
      throw error;
    }
    reportedAt.set(appId, now());
    if (UNSURE.has(gap)) unsureAt.set(appId, now());
    onGap(appId, gap);
  }

  /** Pauses after a failure too. Gaps that come meanwhile are reported after the pause. */
  async function reportAll(signal: AbortSignal): Promise<void> {
    const known = [...unreported];
    try {
      for (const [appId, gap] of known) await report(appId, gap);
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
      const reportIfAny = () => (unreported.size === 0 ? Promise.resolve() : reportAll(signal));
      await loop(reportIfAny, { wake, intervalMs: APART_MS, onError }, signal);
    },
  };
}
