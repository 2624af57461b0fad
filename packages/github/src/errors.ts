import { RequestError } from '@octokit/request-error';

export type GitHubFailureKind =
  | 'not_found'
  | 'unauthorized'
  /** Credentials were refused that are not used again: it speaks against nobody, and the next call takes others. */
  | 'outdated'
  | 'forbidden'
  | 'rate_limited'
  | 'conflict'
  | 'invalid'
  | 'unavailable'
  | 'timeout'
  | 'network'
  | 'unknown';

/** What went wrong in a call to GitHub, in terms that decide what to do next. */
export type GitHubFailure = {
  readonly kind: GitHubFailureKind;
  /** HTTP status; absent when no answer came. */
  readonly status?: number;
  /** How long to wait before the next call, when GitHub said so. */
  readonly retryAfterMs?: number;
  /** No connection came about: GitHub certainly knows nothing of the call. */
  readonly neverSent?: boolean;
  /** For people. Holds no token and no JIT config. */
  readonly message: string;
  /** Method and path, such as `POST /orgs/acme/actions/runners/generate-jitconfig`. */
  readonly operation: string;
};

/** A refusal (401) of credentials that are not used again: the next call takes others. */
export class OutdatedCredentialsError extends RequestError {
  constructor({ message, status, request, response }: RequestError) {
    super(message, status, { request, ...(response === undefined ? {} : { response }) });
  }
}

/** GitHub's advice when a secondary limit was hit and no header says for how long. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;

/**
 * Classifies whatever a function of this package threw: by status, headers and the codes in GitHub's answer, never by message text.
 * `now` (milliseconds since the epoch) turns the reset instant of a rate limit into a wait where GitHub does not tell its own time.
 */
export function classifyGitHubError(error: unknown, now: number = Date.now()): GitHubFailure {
  if (!(error instanceof RequestError)) return classifyThrown(error);
  const operation = describeOperation(error.request);
  // Octokit reports a call without an answer as status 500 without a response.
  if (error.response === undefined) {
    const kind = isTimeout(error) ? 'timeout' : 'network';
    return { kind, message: redact(error.message), operation, ...(hasCode(error, NEVER_SENT_CODES) ? { neverSent: true } : {}) };
  }
  const { headers, data }: { headers: Headers; data: unknown } = error.response;
  const message = typeof data === 'string' && PAGE.test(data) ? `a page instead of an answer, with status ${error.status}` : error.message;
  const base = { status: error.status, message: redact(message), operation };
  if (error instanceof OutdatedCredentialsError) return { ...base, kind: 'outdated' };
  if (isRateLimited(error.status, headers, data)) {
    return { ...base, kind: 'rate_limited', retryAfterMs: waitOf(headers, now) };
  }
  const retryAfter = secondsToMs(headers['retry-after']);
  const kind = error.status === 422 && saysAlreadyExists(data) ? 'conflict' : kindOfStatus(error.status);
  return { ...base, kind, ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }) };
}

function classifyThrown(error: unknown): GitHubFailure {
  const message = redact(error instanceof Error ? error.message : String(error));
  return { kind: isTimeout(error) ? 'timeout' : 'unknown', message, operation: 'unknown' };
}

type Headers = Readonly<Record<string, string | number | undefined>>;

function isRateLimited(status: number, headers: Headers, data: unknown): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || String(headers['x-ratelimit-remaining']) === '0' || namesSecondaryLimit(data);
}

/** A secondary limit may come without any header; then the link to its explanation is all that tells it from a missing permission. */
function namesSecondaryLimit(data: unknown): boolean {
  const link = fieldOf(data, 'documentation_url');
  return typeof link === 'string' && /#.*\b(?:secondary|abuse)-rate-limits\b/.test(link);
}

function saysAlreadyExists(data: unknown): boolean {
  const errors = fieldOf(data, 'errors');
  return Array.isArray(errors) && errors.some((each) => fieldOf(each, 'code') === 'already_exists');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}

/** What stands between us and GitHub answers with these, and so does GitHub's own front door. */
const PAGE = /^\s*<(?:!doctype|html)/i;

function waitOf(headers: Headers, now: number): number {
  const retryAfter = secondsToMs(headers['retry-after']);
  if (retryAfter !== undefined) return retryAfter;
  const resetAt = secondsToMs(headers['x-ratelimit-reset']);
  const exhausted = String(headers['x-ratelimit-remaining']) === '0';
  if (!exhausted || resetAt === undefined) return SECONDARY_LIMIT_WAIT_MS;
  // The reset is told by GitHub's clock, which may be another than ours.
  const theirs = Date.parse(String(headers['date']));
  return Math.max(resetAt - (Number.isNaN(theirs) ? now : theirs), 1000);
}

function secondsToMs(value: string | number | undefined): number | undefined {
  const seconds = Number(value);
  return value === undefined || value === '' || !Number.isFinite(seconds) || seconds < 0 ? undefined : seconds * 1000;
}

function kindOfStatus(status: number): GitHubFailureKind {
  if (status >= 500 || status === 408) return 'unavailable';
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
    case 451:
      return 'forbidden';
    case 404:
    case 410:
      return 'not_found';
    case 409:
      return 'conflict';
    case 400:
    case 422:
      return 'invalid';
    default:
      return 'unknown';
  }
}

/**
 * A request that ran into its time limit: the platform names the cause (`AbortSignal.timeout`), and undici's own limits carry codes.
 * Looked at by shape, for a DOMException is an Error in some realms only.
 */
const isTimeout = (error: unknown): boolean =>
  someCause(error, (cause) => 'name' in cause && cause.name === 'TimeoutError') || hasCode(error, TIMEOUT_CODES);

const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean =>
  someCause(error, (cause) => 'code' in cause && typeof cause.code === 'string' && codes.has(cause.code));

function someCause(error: unknown, is: (cause: object) => boolean): boolean {
  let cause = error;
  while (typeof cause === 'object' && cause !== null) {
    if (is(cause)) return true;
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return false;
}

const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** The name was not found, or nobody listened there, or there was no way. */
const NEVER_SENT_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function describeOperation(request: { readonly method: string; readonly url: string }): string {
  const path = URL.canParse(request.url) ? new URL(request.url).pathname : request.url;
  return `${request.method} ${path}`;
}

// Tokens of every kind GitHub issues, JSON web tokens, and long runs of base64 (a JIT config is one).
const SECRETS = /\b(?:gh[a-z]_|github_pat_)[\w.-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+|[A-Za-z0-9+/]{120,}={0,2}/g;

function redact(text: string): string {
  // Redacted before it is shortened: half a secret would no longer be recognised as one.
  const clean = text.replaceAll(SECRETS, '[redacted]');
  return clean.length > 500 ? `${clean.slice(0, 500)}…` : clean;
}
