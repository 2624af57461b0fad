import type { JudgedDelivery, LogMark } from '@paddock/db/deliveries/redelivery';
import type { DeliveryPage, WebhookDelivery } from '@paddock/github/deliveries';
import { classifyGitHubError, UnusableAnswerError } from '@paddock/github/errors';

/** One page, newest first; without a cursor the first one. */
type ListPage = (cursor: string | undefined) => Promise<DeliveryPage>;

/**
 * The pages from a cursor down to the log's end. Throws GitHub's errors, and an UnusableAnswerError
 * after a page that does not lead further: it must not be taken for the log's end.
 */
export async function* logPages(
  list: ListPage,
  from: string | undefined,
): AsyncGenerator<DeliveryPage, void> {
  const asked = new Set<string | undefined>();
  for (let cursor = from; ;) {
    asked.add(cursor);
    const page = await list(cursor);
    yield page;
    cursor = page.nextCursor;
    if (page.isCutOff)
      throw new UnusableAnswerError(
        'GitHub answered a full page of the delivery log without a cursor for the next; check whether a proxy removes the Link header',
      );
    if (cursor === undefined) return;
    if (asked.has(cursor))
      throw new UnusableAnswerError(
        'the delivery log goes in a circle: GitHub named a cursor that was already followed',
      );
  }
}

export interface ReadLogOptions {
  list: ListPage;
  /** What earlier passes have read. */
  mark: LogMark;
  now: Date;
  /** How far back every pass reads, since entries may enter the log late. */
  windowMs: number;
  /** How far back GitHub can repeat deliveries. */
  horizonMs: number;
  /** Most pages of one pass. */
  maxPages: number;
  signal: AbortSignal;
}

export interface LogReading {
  attempts: WebhookDelivery[];
  pages: number;
  /** Where the part that this pass had to read begins. Its last page may reach further down. */
  since: Date;
  mark: LogMark;
  /** Why a page could not be read. The pages before it count. */
  error?: unknown;
}

/**
 * Reads an App's delivery log from its newest entry down to the window's beginning, or to the mark
 * if that is older. A reading that broke off goes on where it ended, once the entries above it are
 * read. The mark rises when nothing is left to read above it.
 */
export async function readDeliveryLog(options: ReadLogOptions): Promise<LogReading> {
  const { mark, now, windowMs, horizonMs } = options;
  const window = new Date(now.getTime() - windowMs);
  const horizon = new Date(now.getTime() - horizonMs);
  const readTo = latest([mark.readTo ?? window, horizon]);
  const since = earliest([window, readTo]);
  const reading: LogReading = { attempts: [], pages: 0, since, mark };
  const { rest } = mark;

  let left = await readDown(options, reading, undefined, earliest([window, rest?.from ?? readTo]));
  // Without an answer GitHub's clock is unknown, and ours may be ahead.
  if (reading.pages === 0) return reading;
  if (left.isWhole && rest !== undefined)
    left = await readDown(options, reading, rest.cursor, readTo);
  const from = latest([readTo, ...reading.attempts.map(({ deliveredAt }) => deliveredAt)]);
  if (left.isWhole) reading.mark = { readTo: from };
  else if (left.cursor === undefined) reading.mark = { readTo };
  else reading.mark = { readTo, rest: { cursor: left.cursor, from } };
  return reading;
}

/**
 * Reads pages until one reaches past `until`, the log or the pass's pages end, or a page fails. If
 * something is left to read, returns where: nowhere, if GitHub refused the cursor itself.
 */
async function readDown(
  { list, maxPages, signal }: ReadLogOptions,
  reading: LogReading,
  begin: string | undefined,
  until: Date,
): Promise<{ isWhole: boolean; cursor?: string | undefined }> {
  let cursor = begin;
  if (reading.pages >= maxPages || signal.aborted) return { isWhole: false, cursor };
  try {
    for await (const { deliveries, nextCursor } of logPages(list, begin)) {
      reading.pages++;
      reading.attempts.push(...deliveries);
      if (deliveries.some(({ deliveredAt }) => deliveredAt < until)) return { isWhole: true };
      if (nextCursor === undefined) continue;
      cursor = nextCursor;
      if (reading.pages >= maxPages || signal.aborted) return { isWhole: false, cursor };
    }
    return { isWhole: true };
  } catch (error) {
    reading.error = error;
    const isRefused = ['invalid', 'not_found'].includes(classifyGitHubError(error).kind);
    return { isWhole: false, cursor: isRefused ? undefined : cursor };
  }
}

const earliest = (instants: readonly Date[]): Date =>
  new Date(Math.min(...instants.map((instant) => instant.getTime())));

const latest = (instants: readonly Date[]): Date =>
  new Date(Math.max(...instants.map((instant) => instant.getTime())));

/** The events that change our rows. Other events may get lost without harm. */
const REPEATED_EVENTS: ReadonlySet<string> = new Set([
  'workflow_job',
  'installation',
  'installation_repositories',
  'installation_target',
]);

/** Everything but 2xx is a failure, also a redirect or no answer, unless GitHub calls it OK. */
export const gotThrough = ({ status, statusCode }: WebhookDelivery): boolean =>
  status === 'OK' || (statusCode >= 200 && statusCode < 300);

export interface JudgedLog {
  deliveries: JudgedDelivery[];
  /** The newest attempt of any event that got through: our endpoint was reachable then. */
  lastSuccess: WebhookDelivery | undefined;
}

/**
 * Judges the deliveries that change our rows, each by all its attempts, which share its GUID.
 * Attempts may come in any order and more than once.
 */
export function judgeLog(attempts: readonly WebhookDelivery[]): JudgedLog {
  const repeated = attempts.filter(({ event }) => REPEATED_EVENTS.has(event));
  return {
    deliveries: [...Map.groupBy(repeated, ({ guid }) => guid).values()].map(judge),
    lastSuccess: attempts.filter(gotThrough).toSorted(byAge).at(-1),
  };
}

function judge(attempts: readonly WebhookDelivery[]): JudgedDelivery {
  const sorted = attempts.toSorted(byAge);
  const [oldest, newest] = [sorted[0], sorted.at(-1)];
  if (oldest === undefined || newest === undefined)
    throw new RangeError('a delivery without an attempt cannot be judged');
  const { guid, event, action, installationId, repositoryId } = newest;
  return {
    guid,
    event,
    action,
    installationId,
    repositoryId,
    isDelivered: attempts.some(gotThrough),
    deliveryId: newest.id,
    firstFailedAt: oldest.deliveredAt,
    lastFailedAt: newest.deliveredAt,
    lastStatusCode: newest.statusCode,
  };
}

/** Within one second ids decide: GitHub's ids rise. */
const byAge = (a: WebhookDelivery, b: WebhookDelivery): number =>
  a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(BigInt(a.id) - BigInt(b.id));

/**
 * True if a delivery has reached us. `installation_repositories` that our endpoint took need no row:
 * we store only 20 rows of one body, and selecting a repository again and again repeats a body.
 * Discovery lists repositories anyway.
 */
export const hasArrived = (
  { guid, event, isDelivered }: JudgedDelivery,
  stored: ReadonlySet<string>,
  mayBeUnheard: boolean,
): boolean =>
  stored.has(guid) || (isDelivered && event === 'installation_repositories' && !mayBeUnheard);

/**
 * True if our endpoint was away and is back: a success is newer than a failure that was no refusal
 * (4xx) by our endpoint. Attempts that began before the return may still be under way.
 */
export const showsReturn = (
  failed: readonly JudgedDelivery[],
  lastSuccess: WebhookDelivery | undefined,
): boolean =>
  lastSuccess !== undefined &&
  failed.some(
    ({ lastStatusCode, lastFailedAt }) =>
      (lastStatusCode < 400 || lastStatusCode >= 500) && lastFailedAt <= lastSuccess.deliveredAt,
  );
