import type { ListedStretch } from '@paddock/db/deliveries/delivery-listings';
import type { DeliveryAttempt } from './delivery-log.ts';
import { addStretch, forgetBefore, newestGap, withoutNewestGap } from './stretches.ts';

export interface LogPage {
  deliveries: readonly DeliveryAttempt[];
  /** Absent on the last page. */
  nextCursor?: string | undefined;
  /** The page is full, and GitHub has not said whether the log goes on. */
  isCutOff?: boolean | undefined;
  /** The log's own clock, if it told the time. */
  answeredAt?: Date | undefined;
}

export interface ReadLogOptions {
  /** Fetches one page, newest first; without a cursor the first one. */
  fetchPage: (cursor: string | undefined) => Promise<LogPage>;
  /** True if GitHub refused the cursor itself, so that asking again is of no use. */
  isCursorRefused: (error: unknown) => boolean;
  /** What was listed before. */
  stretches: readonly ListedStretch[];
  now: Date;
  /** How far back every cycle looks, since an entry may come into the log late. */
  windowMs: number;
  /** How far back GitHub can repeat anything. */
  horizonMs: number;
  /** The most pages of one cycle; what is left is a gap, from which the next cycle goes on. */
  maxPages: number;
  signal: AbortSignal;
}

export interface LogReading {
  attempts: DeliveryAttempt[];
  stretches: ListedStretch[];
  pages: number;
  /** Why a page could not be had; what was read before it counts all the same. */
  error?: unknown;
}

/** Below a page of the delivery log there may be more, and nothing tells how to ask for it. */
export class CutOffLogError extends Error {
  constructor() {
    super(
      'GitHub answered a full page of the delivery log, and not where it goes on: see whether a proxy before it takes the Link header away',
    );
    this.name = 'CutOffLogError';
  }
}

/**
 * Reads an App's delivery log from its newest entry down to the window's beginning and to what was listed before, whichever is older, then
 * fills the gaps that earlier cycles left (E1).
 */
export async function readDeliveryLog(options: ReadLogOptions): Promise<LogReading> {
  const { now, windowMs, horizonMs, maxPages, signal } = options;
  const windowBegin = new Date(now.getTime() - windowMs);
  const anchor: ListedStretch = { newestAt: windowBegin, oldestAt: windowBegin, cursor: null };
  const reading: LogReading = { attempts: [], pages: 0, stretches: options.stretches.length === 0 ? [anchor] : [...options.stretches] };

  const lastListed = reading.stretches[0]?.newestAt ?? windowBegin;
  await readDown(options, reading, undefined, windowBegin < lastListed ? windowBegin : lastListed, undefined);
  // Without an answer the log has not told its time either, and ours may be ahead of it.
  if (reading.pages === 0) return { ...reading, stretches: [...options.stretches] };
  while (reading.error === undefined && reading.pages < maxPages && !signal.aborted) {
    const gap = newestGap(reading.stretches);
    if (gap === undefined) break;
    await readDown(options, reading, gap.cursor, gap.until, gap.from);
  }
  return { ...reading, stretches: forgetBefore(reading.stretches, new Date(now.getTime() - horizonMs)) };
}

/** Reads pages until one begins behind `until`, the log ends, the pages of this cycle are used up, or one fails or leads nowhere. */
async function readDown(
  options: ReadLogOptions,
  reading: LogReading,
  first: string | undefined,
  until: Date,
  from: Date | undefined,
): Promise<void> {
  const { fetchPage, isCursorRefused, maxPages, signal } = options;
  let cursor = first;
  let newestAt = from;
  const asked = new Set<string | undefined>();
  while (reading.pages < maxPages && !signal.aborted) {
    let page: LogPage;
    asked.add(cursor);
    try {
      page = await fetchPage(cursor);
    } catch (error) {
      reading.error = error;
      if (cursor !== undefined && isCursorRefused(error)) reading.stretches = withoutNewestGap(reading.stretches);
      return;
    }
    reading.pages++;
    reading.attempts.push(...page.deliveries);
    const instants = page.deliveries.map(({ deliveredAt }) => deliveredAt.getTime());
    const next = page.nextCursor;
    if (instants.length === 0 && next !== undefined) {
      // What lies below is not known, so the gap stays, and the next cycle tries it once more.
      reading.error = new Error('GitHub answered an empty page of the delivery log, and that the log goes on after it');
      return;
    }
    if (instants.length === 0 && newestAt === undefined) return;
    newestAt ??= new Date(Math.max(...instants));
    const oldest = instants.length === 0 ? newestAt : new Date(Math.min(...instants));
    if (page.isCutOff === true && oldest >= until) {
      reading.error = new CutOffLogError();
      return;
    }
    const complete = next === undefined || oldest < until;
    // Where the log ends there is nothing below, so the stretch reaches down to whatever was listed there before.
    const oldestAt = next === undefined ? earliest([oldest, until, ...reading.stretches.map((stretch) => stretch.oldestAt)]) : oldest;
    reading.stretches = addStretch(reading.stretches, { newestAt, oldestAt, cursor: next ?? null });
    if (complete) return;
    if (asked.has(next)) {
      reading.error = new Error('the delivery log goes round in a circle: GitHub named a cursor that had been followed already');
      return;
    }
    cursor = next;
  }
}

const earliest = (instants: readonly Date[]): Date => new Date(Math.min(...instants.map((instant) => instant.getTime())));
