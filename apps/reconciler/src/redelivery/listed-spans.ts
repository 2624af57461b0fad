import type { ListedSpan } from '@paddock/db/deliveries/delivery-listings';

// The spans of a delivery log that were listed, newest first. A span with a cursor has a gap below:
//
//   newest ─────────── oldest ~cursor~ gap ~ newest ─────────── oldest
//   └───── listed span ─────┘                └───── listed span ─────┘

/** Adds a span that was just listed, and merges it with all spans that it touches. */
export function addSpan(spans: readonly ListedSpan[], listed: ListedSpan): ListedSpan[] {
  let merged = listed;
  const apart: ListedSpan[] = [];
  for (const span of spans.toSorted(byNewest)) {
    const meets = span.newestAt >= merged.oldestAt && span.oldestAt <= merged.newestAt;
    if (meets) merged = joined(merged, span);
    else apart.push(span);
  }
  const sorted = [...apart, merged].toSorted(byNewest);
  // The oldest span has no gap below: no cycle ever wanted older entries.
  return sorted.map((span, index) => (index === sorted.length - 1 ? endingAt(span) : span));
}

const endingAt = ({ newestAt, oldestAt }: ListedSpan): ListedSpan => ({
  newestAt,
  oldestAt,
  cursor: null,
});

/** The cursor of the span that reaches further down is the right one. */
function joined(a: ListedSpan, b: ListedSpan): ListedSpan {
  const lower =
    b.oldestAt < a.oldestAt || (b.oldestAt.getTime() === a.oldestAt.getTime() && b.cursor === null)
      ? b
      : a;
  return {
    newestAt: a.newestAt > b.newestAt ? a.newestAt : b.newestAt,
    oldestAt: lower.oldestAt,
    cursor: lower.cursor,
  };
}

export interface Gap {
  cursor: string;
  /** Where the span below begins. A listing ends with the first page that reaches past it. */
  until: Date;
  /** Where the span above the gap ends. */
  from: Date;
}

/** The newest gap, which the next listing fills first. */
export function newestGap(spans: readonly ListedSpan[]): Gap | undefined {
  const above = spans.findIndex(({ cursor }) => cursor !== null);
  const span = spans[above];
  const below = spans[above + 1];
  if (span === undefined || span.cursor === null || below === undefined) return undefined;
  return { cursor: span.cursor, until: below.newestAt, from: span.oldestAt };
}

/** Drops the spans above the newest gap, whose cursor GitHub refused. They are listed again. */
export function withoutNewestGap(spans: readonly ListedSpan[]): ListedSpan[] {
  const above = spans.findIndex(({ cursor }) => cursor !== null);
  return spans.slice(above + 1);
}

/**
 * Drops spans older than `horizon`, which GitHub can no longer repeat. Gaps there are closed. The
 * newest of the old spans stays, since it ends the gap above it.
 */
export function forgetBefore(spans: readonly ListedSpan[], horizon: Date): ListedSpan[] {
  const firstBelow = spans.findIndex(({ newestAt }) => newestAt <= horizon);
  const kept = firstBelow === -1 ? spans : spans.slice(0, firstBelow + 1);
  return kept.map(({ newestAt, oldestAt, cursor }) => ({
    newestAt,
    oldestAt,
    cursor: oldestAt <= horizon ? null : cursor,
  }));
}

const byNewest = (a: ListedSpan, b: ListedSpan): number =>
  b.newestAt.getTime() - a.newestAt.getTime();
