import type { ListedSpan } from '@paddock/db/deliveries/delivery-listings';
import type { DeliveryAttempt } from './judge-delivery-log.ts';
import { addSpan, forgetBefore, newestGap, withoutNewestGap } from './listed-spans.ts';

export interface LogPage {
  deliveries: readonly DeliveryAttempt[];
  /** Absent on the last page. */
  nextCursor?: string | undefined;
  /** The page is full, and GitHub has not said whether the log goes on. */
  isCutOff?: boolean | undefined;
  /** GitHub's clock, if the answer gave it. */
  answeredAt?: Date | undefined;
}

export interface ReadLogOptions {
  /** Fetches one page, newest first; without a cursor the first one. */
  fetchPage: (cursor: string | undefined) => Promise<LogPage>;
  /** True if GitHub refused the cursor itself, so that another try is useless. */
  isCursorRefused: (error: unknown) => boolean;
  /** Listed by earlier cycles. */
  spans: readonly ListedSpan[];
  now: Date;
  /** How far back every cycle reads, since entries may enter the log late. */
  windowMs: number;
  /** How far back GitHub can repeat deliveries. */
  horizonMs: number;
  /** Most pages of one cycle. The rest becomes a gap, which the next cycle fills. */
  maxPages: number;
  signal: AbortSignal;
}

export interface LogReading {
  attempts: DeliveryAttempt[];
  spans: ListedSpan[];
  pages: number;
  /** Why a page could not be read. The pages before it count. */
  error?: unknown;
}

/** A full page of the delivery log came without a cursor: there may be more, out of reach. */
export class CutOffLogError extends Error {
  constructor() {
    super(
      'GitHub answered a full page of the delivery log without a cursor for the next; check whether a proxy removes the Link header',
    );
    this.name = 'CutOffLogError';
  }
}

/**
 * Reads an App's delivery log from its newest entry down to the window's beginning or to the newest
 * listed entry: the older of the two. Then fills the gaps that earlier cycles left.
 */
export async function readDeliveryLog(options: ReadLogOptions): Promise<LogReading> {
  const { now, windowMs, horizonMs, maxPages, signal } = options;
  const windowBegin = new Date(now.getTime() - windowMs);
  const anchor: ListedSpan = { newestAt: windowBegin, oldestAt: windowBegin, cursor: null };
  const reading: LogReading = {
    attempts: [],
    pages: 0,
    spans: options.spans.length === 0 ? [anchor] : [...options.spans],
  };

  const lastListed = reading.spans[0]?.newestAt ?? windowBegin;
  await readDown(
    options,
    reading,
    undefined,
    windowBegin < lastListed ? windowBegin : lastListed,
    undefined,
  );
  // Without an answer GitHub's clock is unknown, and ours may be ahead: keep the spans as they
  // were.
  if (reading.pages === 0) return { ...reading, spans: [...options.spans] };
  while (reading.error === undefined && reading.pages < maxPages && !signal.aborted) {
    const gap = newestGap(reading.spans);
    if (gap === undefined) break;
    await readDown(options, reading, gap.cursor, gap.until, gap.from);
  }
  return { ...reading, spans: forgetBefore(reading.spans, new Date(now.getTime() - horizonMs)) };
}

/**
 * Reads pages until one reaches past `until`, the log or the cycle's pages end, or a page fails.
 */
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
      if (cursor !== undefined && isCursorRefused(error))
        reading.spans = withoutNewestGap(reading.spans);
      return;
    }
    reading.pages++;
    reading.attempts.push(...page.deliveries);
    const instants = page.deliveries.map(({ deliveredAt }) => deliveredAt.getTime());
    const next = page.nextCursor;
    if (instants.length === 0 && next !== undefined) {
      // The entries below are unknown, so the gap stays and the next cycle tries again.
      reading.error = new Error(
        'GitHub answered an empty page of the delivery log with a cursor for the next',
      );
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
    // The log ends here, so the span reaches down to the oldest listed entry.
    const oldestAt =
      next === undefined
        ? earliest([oldest, until, ...reading.spans.map((span) => span.oldestAt)])
        : oldest;
    reading.spans = addSpan(reading.spans, { newestAt, oldestAt, cursor: next ?? null });
    if (complete) return;
    if (asked.has(next)) {
      reading.error = new Error(
        'the delivery log goes in a circle: GitHub named a cursor that was already followed',
      );
      return;
    }
    cursor = next;
  }
}

const earliest = (instants: readonly Date[]): Date =>
  new Date(Math.min(...instants.map((instant) => instant.getTime())));
