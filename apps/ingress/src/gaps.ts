import type { WantedPasses } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { loop } from '@paddock/runtime/loop';

/** What came before a stored delivery: others may have failed then; only GitHub's log names them. */
export type Gap = 'start' | 'refusal';

export type Gaps = ReturnType<typeof createGaps>;

export interface GapsOptions {
  readonly want: (passes: WantedPasses) => Promise<void>;
  readonly onGap: (appId: number, gap: Gap) => void;
  readonly onError: (error: unknown) => void;
  /** Between two rounds of reports, in milliseconds. */
  readonly apartMs?: number;
}

/** GitHub waits 10 s for an answer, so its log shows a failure this much later. */
const LATE_MS = 12_000;

/**
 * Notices when deliveries may have failed here. Once one is stored again, it asks the reconciler to
 * read GitHub's log at once, not at the next sweep. Each replica knows only its own gaps; the
 * database merges their requests, and spaces them however often strangers cause a 503.
 */
export function createGaps({ want, onGap, onError, apartMs = 1_000 }: GapsOptions) {
  /** What came since the App's last stored delivery; of an App that is not in it, our start. */
  const before = new Map<number, Gap | undefined>();
  const unreported = new Map<number, Gap>();

  async function report(appId: number, gap: Gap): Promise<void> {
    unreported.delete(appId);
    try {
      await want({ schedule: redeliverySchedule(appId), forMs: LATE_MS });
    } catch (error) {
      unreported.set(appId, gap);
      throw error;
    }
    onGap(appId, gap);
  }

  async function reportAll(): Promise<void> {
    // Those that come meanwhile wait for the next round.
    const known = [...unreported];
    for (const [appId, gap] of known) await report(appId, gap);
  }

  return {
    /** A delivery of the App was answered with 503. Absent: its App is not known, so it is each. */
    refused(appId?: number): void {
      for (const id of appId === undefined ? before.keys() : [appId]) before.set(id, 'refusal');
    },
    /** A delivery of the App was stored. */
    stored(appId: number): void {
      const gap = before.has(appId) ? before.get(appId) : 'start';
      before.set(appId, undefined);
      if (gap !== undefined) unreported.set(appId, gap);
    },
    /** Asks for passes over the delivery logs, again after a failure. */
    run: (signal: AbortSignal) => loop(reportAll, { intervalMs: apartMs, onError }, signal),
  };
}
