import type { AppClient } from './connect.ts';
import { PER_PAGE } from './read-pages.ts';

/**
 * One attempt at a delivery, from the App's log. Attempts of the same event share the GUID; the log
 * holds no payloads.
 */
export type WebhookDelivery = {
  /** A whole number as text: GitHub's lie beyond those that JavaScript holds exactly. */
  readonly id: string;
  readonly guid: string;
  /** ISO text. */
  readonly deliveredAt: string;
  /** ISO text, if GitHub held the attempt back for the rate of our endpoint. */
  readonly throttledAt: string | null;
  readonly redelivery: boolean;
  /**
   * As the receiver answered; what lies outside of 200–399 did not get through. 0 if no answer
   * came.
   */
  readonly statusCode: number;
  readonly status: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
};

export type DeliveryPage = {
  readonly deliveries: readonly WebhookDelivery[];
  readonly nextCursor?: string;
  /**
   * The page is full, and something between GitHub and us removes the Link header: whether the log
   * goes on, and where, is not known.
   */
  readonly isCutOff: boolean;
  /** GitHub's clock when it answered; undefined if it did not say. */
  readonly answeredAt: Date | undefined;
};

/**
 * A page of the App's deliveries (100), newest first, from `cursor` on. No `nextCursor`: it is the
 * last page. Failed ones are not asked for apart: GitHub's filter misses those that never got a
 * status code. Throws what Octokit throws.
 */
export async function listDeliveries(
  client: AppClient,
  { cursor }: { readonly cursor?: string } = {},
): Promise<DeliveryPage> {
  const { data, headers } = await askForPage(client, { cursor, perPage: PER_PAGE });
  const deliveries = data.map((delivery) => ({
    // Octokit reads such a number as a bigint, and leaves one out of the path that it is put into.
    id: String(delivery.id),
    guid: delivery.guid,
    deliveredAt: delivery.delivered_at,
    throttledAt: delivery.throttled_at ?? null,
    redelivery: delivery.redelivery,
    // An attempt that got no answer may have none, whatever the description says.
    statusCode: (delivery.status_code as number | null | undefined) ?? 0,
    status: delivery.status,
    event: delivery.event,
    action: delivery.action,
    installationId: delivery.installation_id,
    repositoryId: delivery.repository_id,
  }));
  const nextCursor = cursorOfNextPage(headers.link);
  const answeredAt = clockIn(headers.date);
  const isCutOff =
    headers.link === undefined && data.length >= PER_PAGE && (await isLinkRemoved(client, cursor));
  return { deliveries, isCutOff, answeredAt, ...(nextCursor === undefined ? {} : { nextCursor }) };
}

/**
 * Asks GitHub to send a delivery once more; it answers before it does. The new attempt keeps the
 * GUID and gets an id of its own.
 */
export async function redeliver({ octokit }: AppClient, deliveryId: string): Promise<void> {
  await octokit.request(`POST /app/hook/deliveries/${encodeURIComponent(deliveryId)}/attempts`);
}

const askForPage = (
  { octokit }: AppClient,
  { cursor, perPage }: { readonly cursor: string | undefined; readonly perPage: number },
) =>
  octokit.rest.apps.listWebhookDeliveries({
    per_page: perPage,
    ...(cursor === undefined ? {} : { cursor }),
  });

/**
 * A last page of exactly a hundred entries has no Link header either. A page of one entry, taken
 * from a log that has more, must have one: if it has none, something removes it.
 */
async function isLinkRemoved(client: AppClient, cursor: string | undefined): Promise<boolean> {
  const { headers } = await askForPage(client, { cursor, perPage: 1 });
  return headers.link === undefined;
}

function cursorOfNextPage(link: string | undefined): string | undefined {
  const address = /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return address === undefined
    ? undefined
    : (new URL(address).searchParams.get('cursor') ?? undefined);
}

function clockIn(date: string | undefined): Date | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms);
}
