/** Who GitHub sees as the caller: an App itself, or its installation on an entity. */
export type Caller = { readonly appId: number } | { readonly entityId: number };

/** GitHub asks a caller to make no calls for a while. */
export type Wait = {
  readonly ms: number;
  /** GitHub's words, for people. */
  readonly message: string;
  /** Only calls that count against this hourly budget; all calls where it is absent. */
  readonly resource?: string;
};

/**
 * What is known of GitHub's waits, by every process: asked before each call, and told of each
 * answer that names one. Of several waits the longest binds.
 */
export type Waits = {
  /** What a call against this budget has to wait for; undefined: it may be made now. */
  readonly left: (
    caller: Caller,
    resource: string,
  ) => Promise<Pick<Wait, 'ms' | 'message'> | undefined>;
  /** Never rejects: the answer that names the wait may hold what can be had only once. */
  readonly note: (caller: Caller, wait: Wait) => Promise<void>;
};

/** What an answer says of waiting. */
export type AnswerHead = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: unknown;
};

type Headers = Readonly<Record<string, string | number | undefined>>;

/** GitHub's advice when a secondary limit was hit and no header says for how long. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;

/** Where too many calls were refused and the wait is over already, or none at all. */
const SHORTEST_WAIT_MS = 1_000;

/**
 * Too many calls: told from a missing permission by status, headers and the answer's link, never by
 * its words.
 */
export function isRateLimited({ status, headers, data }: AnswerHead): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || isExhausted(headers) || namesSecondaryLimit(data);
}

/**
 * The waits that an answer names: `Retry-After` and a secondary limit bind all calls of this
 * caller, an hourly budget that is used up those that count against it. A success that takes the
 * last of a budget names one too. `now`: milliseconds since the epoch.
 */
export function waitsNamedBy(answer: AnswerHead, now: number): Omit<Wait, 'message'>[] {
  const { status, headers } = answer;
  const isRefused = isRateLimited(answer);
  const retryAfterMs = status >= 400 ? secondsToMs(headers['retry-after']) : undefined;
  const resetMs = isExhausted(headers) ? untilReset(headers, now) : undefined;
  const atLeast = isRefused ? SHORTEST_WAIT_MS : 0;
  const unsaid = isRefused && resetMs === undefined ? SECONDARY_LIMIT_WAIT_MS : 0;
  const ofAll = retryAfterMs === undefined ? unsaid : Math.max(retryAfterMs, atLeast);
  const ofBudget = Math.max(resetMs ?? 0, resetMs === undefined ? 0 : atLeast);
  const resource = headers['x-ratelimit-resource'];
  return [
    ...(ofAll > 0 ? [{ ms: ofAll }] : []),
    ...(ofBudget > 0
      ? [{ ms: ofBudget, ...(resource === undefined ? {} : { resource: String(resource) }) }]
      : []),
  ];
}

const isExhausted = (headers: Headers): boolean => String(headers['x-ratelimit-remaining']) === '0';

/** Milliseconds, negative once it is over; undefined where no reset is told. */
function untilReset(headers: Headers, now: number): number | undefined {
  const resetAt = secondsToMs(headers['x-ratelimit-reset']);
  // The reset is told by GitHub's clock, which may be another than ours.
  const theirs = Date.parse(String(headers['date']));
  return resetAt === undefined ? undefined : resetAt - (Number.isNaN(theirs) ? now : theirs);
}

/**
 * A secondary limit may come without any header; then the link to its explanation is all that tells
 * it from a missing permission.
 */
function namesSecondaryLimit(data: unknown): boolean {
  const link =
    typeof data === 'object' && data !== null && 'documentation_url' in data
      ? data.documentation_url
      : undefined;
  return typeof link === 'string' && /#[^#]*\b(?:secondary|abuse)-rate-limits\b/.test(link);
}

function secondsToMs(value: string | number | undefined): number | undefined {
  const seconds = Number(value);
  return value === undefined || value === '' || !Number.isFinite(seconds) || seconds < 0
    ? undefined
    : seconds * 1000;
}
