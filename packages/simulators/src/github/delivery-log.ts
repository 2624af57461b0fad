import type { Payload } from './fragments.ts';
import { notFound } from './route.ts';

/** One attempt to deliver one event to one App. Attempts of the same event share the GUID. */
export type Delivery = {
  /**
   * A whole number as text: since 2026 GitHub's have 19 digits, too many for a JavaScript number.
   */
  readonly id: string;
  readonly guid: string;
  readonly appId: number;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payload: Payload;
  readonly deliveredAt: string;
  readonly redelivery: boolean;
  readonly durationSeconds: number;
  readonly status: string;
  readonly statusCode: number;
};

/** Faults between GitHub and the receiver. All absent: none. */
export type DeliveryFaults = {
  /** Share (0–1) of first attempts that fail without being sent. */
  lossRate?: number | undefined;
  /** First attempts of these actions fail without being sent. */
  dropActions?: readonly string[] | undefined;
  /**
   * GitHub makes no events of these actions, as if it had forgotten them. The log lacks them too.
   */
  omitActions?: readonly string[] | undefined;
  /** Share (0–1) of deliveries that arrive twice, under one GUID. */
  duplicateRate?: number | undefined;
  /**
   * Each delivery starts a random time later, up to this many milliseconds, so that they overtake
   * each other.
   */
  delayMs?: readonly [min: number, max: number] | undefined;
  /**
   * The status code of lost deliveries in the log, by default 502. 0 is a connection that never
   * gave a code.
   */
  lossStatusCode?: number | undefined;
};

export function findDelivery(log: readonly Delivery[], appId: number, id: string): Delivery {
  const delivery = log.find((each) => each.id === id && each.appId === appId);
  if (delivery === undefined) throw notFound();
  return delivery;
}

type Page = { readonly deliveries: readonly Delivery[]; readonly nextCursor: string | null };

/**
 * Newest first. The cursor names the newest delivery of its page, so entries added meanwhile do not
 * shift it.
 */
export function pageOfDeliveries(
  log: readonly Delivery[],
  appId: number,
  { perPage, cursor }: { readonly perPage: number; readonly cursor: string | null },
): Page {
  const from = cursor === null ? undefined : BigInt(/^v1_(\d+)$/.exec(cursor)?.[1] ?? 0);
  const found: Delivery[] = [];
  for (let index = log.length - 1; index >= 0 && found.length <= perPage; index -= 1) {
    const delivery = log[index];
    if (delivery?.appId !== appId) continue;
    if (from === undefined || BigInt(delivery.id) <= from) found.push(delivery);
  }
  const next = found[perPage];
  return {
    deliveries: found.slice(0, perPage),
    nextCursor: next === undefined ? null : `v1_${next.id}`,
  };
}
