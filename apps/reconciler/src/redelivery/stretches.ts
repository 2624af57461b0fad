import type { ListedStretch } from '@paddock/db/deliveries/delivery-listings';

// What was listed of a delivery log, as stretches of time, newest first. A stretch with a cursor has a gap below it:
//
//   newest ─────────── oldest ~cursor~ gap ~ newest ─────────── oldest
//   └ listed stretch ┘                       └ listed stretch ┘

/** The stretches after `listed` was read too: whatever it meets or covers becomes one with it. */
export function addStretch(stretches: readonly ListedStretch[], listed: ListedStretch): ListedStretch[] {
  let merged = listed;
  const apart: ListedStretch[] = [];
  for (const stretch of stretches.toSorted(byNewest)) {
    const meets = stretch.newestAt >= merged.oldestAt && stretch.oldestAt <= merged.newestAt;
    if (meets) merged = joined(merged, stretch);
    else apart.push(stretch);
  }
  const sorted = [...apart, merged].toSorted(byNewest);
  // Below the last one nothing was ever wanted, so there is no gap.
  return sorted.map((stretch, index) => (index === sorted.length - 1 ? endingAt(stretch) : stretch));
}

const endingAt = ({ newestAt, oldestAt }: ListedStretch): ListedStretch => ({ newestAt, oldestAt, cursor: null });

/** The one that reaches further down knows what is below. */
function joined(a: ListedStretch, b: ListedStretch): ListedStretch {
  const lower = b.oldestAt < a.oldestAt || (b.oldestAt.getTime() === a.oldestAt.getTime() && b.cursor === null) ? b : a;
  return { newestAt: a.newestAt > b.newestAt ? a.newestAt : b.newestAt, oldestAt: lower.oldestAt, cursor: lower.cursor };
}

export interface Gap {
  cursor: string;
  /** Read until a page begins to lie behind this. */
  until: Date;
  /** Where the stretch above the gap ends now. */
  from: Date;
}

/** The newest gap, from which a listing goes on. */
export function newestGap(stretches: readonly ListedStretch[]): Gap | undefined {
  const above = stretches.findIndex(({ cursor }) => cursor !== null);
  const stretch = stretches[above];
  const below = stretches[above + 1];
  if (stretch === undefined || stretch.cursor === null || below === undefined) return undefined;
  return { cursor: stretch.cursor, until: below.newestAt, from: stretch.oldestAt };
}

/** The stretches without those down to the newest gap, whose cursor GitHub does not know any more: the next listing starts above them. */
export function withoutNewestGap(stretches: readonly ListedStretch[]): ListedStretch[] {
  const above = stretches.findIndex(({ cursor }) => cursor !== null);
  return stretches.slice(above + 1);
}

/**
 * What lies before `horizon` can no longer be repeated: a gap that has sunk below it is no gap any more, and of the stretches down there
 * one is enough to end the gap above it.
 */
export function forgetBefore(stretches: readonly ListedStretch[], horizon: Date): ListedStretch[] {
  const firstBelow = stretches.findIndex(({ newestAt }) => newestAt <= horizon);
  const kept = firstBelow === -1 ? stretches : stretches.slice(0, firstBelow + 1);
  return kept.map(({ newestAt, oldestAt, cursor }) => ({ newestAt, oldestAt, cursor: oldestAt <= horizon ? null : cursor }));
}

const byNewest = (a: ListedStretch, b: ListedStretch): number => b.newestAt.getTime() - a.newestAt.getTime();
