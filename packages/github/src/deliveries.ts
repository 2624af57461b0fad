import { z } from 'zod';
import type { AppClient } from './connect.ts';
import { UnusableAnswerError } from './errors.ts';
import { ifNoneMatch, PER_PAGE, readAnswer, unlessUnchanged } from './read-answers.ts';

/** An entry of the log without a GUID or an instant, or with an id that no number holds, is of no use. */
const entry = z.object({
  // Octokit reads a number beyond JavaScript's as a bigint, and cannot put a bigint into a path.
  id: z
    .union([z.int(), z.bigint()])
    .transform(String)
    .pipe(z.string().regex(/^\d{1,19}$/)),
  guid: z.string(),
  delivered_at: z.string().transform(Date.parse).pipe(z.number().positive()),
  throttled_at: z.unknown().optional(),
  status_code: z.unknown().optional(),
  status: z.unknown().optional(),
  event: z.string(),
  action: z.string().nullish(),
  installation_id: z.int().nullish(),
  repository_id: z.int().nullish(),
});

/**
 * One attempt at a delivery, from the App's log. Attempts of the same event share the GUID; the log
 * holds no payloads.
 */
export type WebhookDelivery = {
  /** A whole number as text: GitHub's are larger than JavaScript can hold exactly. */
  readonly id: string;
  readonly guid: string;
  readonly deliveredAt: Date;
  /** GitHub held the attempt back because our endpoint was too slow. */
  readonly isThrottled: boolean;
  /** The receiver's status. Outside of 200–399 the attempt failed; 0 if no answer came. */
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
   * The page is full, and something between GitHub and us removes the Link header. So we cannot
   * know whether the log continues, and where.
   */
  readonly isCutOff: boolean;
  /** GitHub's clock when it answered; undefined if the answer lacks it. */
  readonly answeredAt: Date | undefined;
  readonly etag?: string | undefined;
};

/**
 * A page of the App's deliveries (100), newest first, from `cursor` on. Without `nextCursor` it is
 * the last page. Asks for all and not only for failed ones: GitHub's filter misses those that never
 * got a status code. `known` is the same page as read before: unchanged, it costs none of the
 * budget. Throws what Octokit throws, and an UnusableAnswerError for an empty page with a next one.
 */
export async function listDeliveries(
  client: AppClient,
  { cursor, known }: { readonly cursor?: string | undefined; readonly known?: DeliveryPage } = {},
): Promise<DeliveryPage> {
  const asking = askForPage(client, { cursor, perPage: PER_PAGE, etag: known?.etag });
  if (known === undefined) return readPage(client, cursor, await asking);
  const answer = await asking.catch(unlessUnchanged);
  if (answer === undefined) return { ...known, answeredAt: undefined };
  return readPage(client, cursor, answer);
}

async function readPage(
  client: AppClient,
  cursor: string | undefined,
  { data, headers }: Awaited<ReturnType<typeof askForPage>>,
): Promise<DeliveryPage> {
  const { etag, link } = headers;
  const answeredAt = clockIn(headers.date);
  const deliveries = data.flatMap((one) => {
    const { data: said } = entry.safeParse(one);
    return said === undefined ? [] : [deliveryOf(said, answeredAt ?? new Date())];
  });
  const nextCursor = cursorOfNextPage(link);
  if (data.length === 0 && nextCursor !== undefined)
    throw new UnusableAnswerError(
      'GitHub answered an empty page of the delivery log with a cursor for the next',
    );
  const isCutOff =
    link === undefined && data.length >= PER_PAGE && (await isLinkRemoved(client, cursor));
  return {
    deliveries,
    isCutOff,
    answeredAt,
    etag,
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** An odd one that lies ahead of `now` would count as the end of all that was read. */
const deliveryOf = (said: z.infer<typeof entry>, now: Date): WebhookDelivery => ({
  id: said.id,
  guid: said.guid,
  deliveredAt: new Date(Math.min(said.delivered_at, now.getTime())),
  isThrottled: typeof said.throttled_at === 'string',
  // An attempt without an answer may have no status, although the description requires one.
  statusCode: HTTP_STATUS.test(String(said.status_code)) ? Number(said.status_code) : 0,
  status: String(said.status),
  event: said.event,
  action: said.action ?? null,
  installationId: said.installation_id ?? null,
  repositoryId: said.repository_id ?? null,
});

/** A delivery with its body. */
export type DeliveryBody = {
  readonly event: string;
  /** JSON text. */
  readonly payload: string;
};

/**
 * The body of a delivery of the App's log. GitHub sends it as JSON inside of an answer, so its bytes
 * are not those that were signed. Throws what Octokit throws, and an UnusableAnswerError without a body.
 */
export async function readDelivery(
  { octokit }: AppClient,
  deliveryId: string,
): Promise<DeliveryBody> {
  const path = `/app/hook/deliveries/${encodeURIComponent(deliveryId)}`;
  const { data } = readAnswer(await octokit.request(`GET ${path}`), withBody);
  const payload = data.request?.payload ?? undefined;
  if (payload === undefined)
    throw new UnusableAnswerError('GitHub’s log has no body of the delivery.');
  return { event: data.event, payload: JSON.stringify(payload, withoutBigints) };
}

const withBody = z.object({
  event: z.string(),
  request: z.object({ payload: z.unknown().optional() }).nullish(),
});

/** Octokit reads numbers beyond JavaScript's as bigints. No field of use is one. */
const withoutBigints = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

/**
 * Asks GitHub to send a delivery once more; GitHub answers before it sends. The new attempt keeps
 * the GUID and gets another id.
 */
export async function redeliver({ octokit }: AppClient, deliveryId: string): Promise<void> {
  await octokit.request(`POST /app/hook/deliveries/${encodeURIComponent(deliveryId)}/attempts`);
}

const HTTP_STATUS = /^\d{3}$/;

interface Asked {
  readonly cursor: string | undefined;
  readonly perPage: number;
  readonly etag?: string | undefined;
}

const askForPage = async ({ octokit }: AppClient, { cursor, perPage, etag }: Asked) =>
  readAnswer(
    await octokit.rest.apps.listWebhookDeliveries({
      ...ifNoneMatch(etag),
      per_page: perPage,
      ...(cursor === undefined ? {} : { cursor }),
    }),
    z.array(z.unknown()),
  );

/**
 * Tells a removed Link header from a last page of exactly a hundred entries, which has none either.
 * Asks for a page of one entry of a longer log: its answer must have the header.
 */
async function isLinkRemoved(client: AppClient, cursor: string | undefined): Promise<boolean> {
  const { headers } = await askForPage(client, { cursor, perPage: 1 });
  return headers.link === undefined;
}

function cursorOfNextPage(link: string | undefined): string | undefined {
  const address = /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return address === undefined
    ? undefined
    : (URL.parse(address)?.searchParams.get('cursor') ?? undefined);
}

/** No clock in use is a day off. */
const DAY_MS = 86_400_000;

function clockIn(date: string | undefined): Date | undefined {
  const ms = Date.parse(date ?? '');
  return Math.abs(ms - Date.now()) < DAY_MS ? new Date(ms) : undefined;
}
