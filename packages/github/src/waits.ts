import type { Wait } from '@paddock/domain/entities/waits';
import { asRecord } from '@paddock/domain/pools/as-record';

/** The facts about waiting in an answer. */
export type AnswerHead = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: unknown;
};

type Headers = Readonly<Record<string, string | number | undefined>>;

/** GitHub's advice after a secondary limit without a header that says how long. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;

/**
 * GitHub's budgets last an hour. A header that names more is wrong, and the wait would stay until a
 * person ends it. GitHub repeats a wait that is true.
 */
export const LONGEST_WAIT_MS = 3_600_000;

/** Used where GitHub refused for too many calls, and the wait is over already or missing. */
const SHORTEST_WAIT_MS = 1_000;

/**
 * Too many calls. Told from a missing permission by status, headers and the answer's link, never by
 * its words.
 */
export function isRateLimited({ status, headers, data }: AnswerHead): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || isExhausted(headers) || namesSecondaryLimit(data);
}

/**
 * The waits that an answer names. A refusal for too many calls holds back all calls of this caller;
 * a used-up hourly budget holds back the calls that count against it. A success that takes the last
 * of a budget names a wait too. The `Retry-After` of any other failure binds no caller: a server error
 * is about what was asked for, and a probe finds out when GitHub is back. `now`: milliseconds since
 * the epoch.
 */
export function waitsNamedBy(answer: AnswerHead, now: number): Omit<Wait, 'message'>[] {
  const { headers } = answer;
  const isRefused = isRateLimited(answer);
  const bounded = (ms: number): number =>
    Math.min(Math.max(ms, isRefused ? SHORTEST_WAIT_MS : 0), LONGEST_WAIT_MS);
  const resetMs = isExhausted(headers) ? untilReset(headers, now) : undefined;
  const retryAfterMs = isRefused ? secondsToMs(headers['retry-after']) : undefined;
  const isUnsaid = isRefused && resetMs === undefined && retryAfterMs === undefined;
  const ofAllMs = isUnsaid ? SECONDARY_LIMIT_WAIT_MS : retryAfterMs;
  const resource = headers['x-ratelimit-resource'];
  const ofBudget = resource === undefined ? {} : { resource: String(resource) };
  const waits = [
    ...(ofAllMs === undefined ? [] : [{ ms: bounded(ofAllMs) }]),
    ...(resetMs === undefined ? [] : [{ ms: bounded(resetMs), ...ofBudget }]),
  ];
  return waits.filter(({ ms }) => ms > 0);
}

const isExhausted = (headers: Headers): boolean =>
  /^(?:0|-\d+)$/.test(String(headers['x-ratelimit-remaining']));

/** Milliseconds, negative once it is over; undefined without a reset instant. */
export function untilReset(headers: Headers, now: number): number | undefined {
  const resetAt = secondsToMs(headers['x-ratelimit-reset']);
  // The reset is an instant of GitHub's clock, which may differ from ours.
  const theirs = Date.parse(String(headers['date']));
  return resetAt === undefined ? undefined : resetAt - (Number.isNaN(theirs) ? now : theirs);
}

/**
 * A secondary limit may come without any header. Then only the link to its explanation tells it
 * from a missing permission.
 */
function namesSecondaryLimit(data: unknown): boolean {
  const { documentation_url: link } = asRecord(data);
  return typeof link === 'string' && /#[^#]*\b(?:secondary|abuse)-rate-limits\b/.test(link);
}

function secondsToMs(value: string | number | undefined): number | undefined {
  const seconds = Number(value);
  return value === undefined || value === '' || !Number.isFinite(seconds) || seconds < 0
    ? undefined
    : seconds * 1000;
}
