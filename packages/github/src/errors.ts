import type { Wait } from '@paddock/domain/entities/waits';
import { RequestError } from '@octokit/request-error';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { isAnswer } from '@paddock/runtime/reach';
import { isRateLimited, waitsNamedBy } from './waits.ts';

export type GitHubFailureKind =
  | 'not_found'
  | 'unauthorized'
  /**
   * GitHub refused credentials that are outdated, or too new. Neither App nor installation is at
   * fault, and the next call may do better.
   */
  | 'outdated'
  | 'forbidden'
  | 'rate_limited'
  | 'conflict'
  | 'invalid'
  /** An answer was too long, or sent us elsewhere. The thing that we asked for is at fault. */
  | 'unusable'
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
  /** GitHub certainly did not get the call: no connection was made, or we did not make the call. */
  readonly neverSent?: boolean;
  /** For people. Contains no token and no JIT config. */
  readonly message: string;
  /** Method and path, such as `POST /orgs/acme/actions/runners/generate-jitconfig`. */
  readonly operation: string;
};

/** A refusal (401) of credentials that says nothing of whose they are: the next call may do better. */
export class OutdatedCredentialsError extends RequestError {
  constructor({ message, status, request, response }: RequestError) {
    super(message, status, { request, ...(response === undefined ? {} : { response }) });
  }
}

/** A call that was not made, because GitHub has asked its caller to wait. */
export class WaitError extends Error {
  readonly operation: string;
  readonly ms: number;

  constructor(
    request: { readonly method: string; readonly url: string },
    { ms, message }: Pick<Wait, 'ms' | 'message'>,
  ) {
    super(message);
    this.name = 'WaitError';
    this.operation = describeOperation(request);
    this.ms = ms;
  }
}

/**
 * A call that was not made, because we could not find out whether GitHub asks us to wait. Its cause
 * is not a failure of GitHub's.
 */
export class UnaskedError extends Error {
  constructor(cause: unknown) {
    super('Paddock could not find out whether it may call GitHub now.', { cause });
    this.name = 'UnaskedError';
  }
}

/**
 * GitHub's answer cannot be used: it is too long, or redirects to another server. The thing that we
 * asked for is at fault, not GitHub as a whole: people write the texts that GitHub lists.
 */
export class UnusableAnswerError extends Error {
  override readonly name = 'UnusableAnswerError';
  /** The path that was asked for. */
  readonly operation: string;

  constructor(message: string, url?: string) {
    super(message);
    this.operation = url === undefined ? 'reading a list' : pathOf(url);
  }
}

/**
 * Classifies any error that a function of this package threw: by status, headers and the codes in
 * GitHub's answer, never by message text. Throws an UnaskedError on: GitHub did not cause it. `now`
 * (milliseconds since the epoch) turns the reset instant of a rate limit into a wait where GitHub's
 * answer lacks a date.
 */
export function classifyGitHubError(error: unknown, now: number = Date.now()): GitHubFailure {
  if (!(error instanceof RequestError)) return classifyThrown(error);
  const operation = describeOperation(error.request);
  // Octokit reports a call without an answer as status 500 without a response.
  if (error.response === undefined) {
    const kind = kindWithoutAnswer(error);
    return {
      kind,
      message: redact(error.message),
      operation,
      ...(hasCode(error, NEVER_SENT_CODES) ? { neverSent: true } : {}),
    };
  }
  const { headers, data } = error.response;
  const instead = error.message.trim() === '' ? 'nothing' : isPage(data) ? 'a page' : undefined;
  const message =
    instead === undefined
      ? error.message
      : `${instead} instead of an answer, with status ${error.status}`;
  const base = { status: error.status, message: redact(message), operation };
  if (error instanceof OutdatedCredentialsError) return { ...base, kind: 'outdated' };
  const answer = { status: error.status, headers, data };
  const waits = waitsNamedBy(answer, now).map(({ ms }) => ms);
  const wait = waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) };
  if (isRateLimited(answer)) return { ...base, kind: 'rate_limited', ...wait };
  const kind =
    error.status === 422 && saysAlreadyExists(data) ? 'conflict' : kindOfStatus(error.status);
  // GitHub refuses with an object. A proxy's page says nothing of what GitHub has or allows.
  if (isRefusal({ kind }) && !isRecord(data)) return { ...base, kind: 'unavailable', ...wait };
  return { ...base, kind, ...wait };
}

/** A failed call as a sentence: which one, and what came instead. */
export function tellFailure({ kind, status, message, operation }: GitHubFailure): string {
  // An answer that we could not read: its sentence says of what.
  if (operation === 'unknown') return message;
  if (kind === 'unusable') return `GitHub’s answer to ${operation} cannot be used: ${message}`;
  const answered = status === undefined ? 'did not answer' : `answered ${status} to`;
  return `GitHub ${answered} ${operation}: ${message}`;
}

/**
 * Resolves with the result of `ask`, and with undefined when GitHub answers 404. Throws every other
 * failure on, also the 404 of a token: that the installation is gone says nothing about the thing
 * that we asked for.
 */
export async function foundOrNot<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const { kind, operation } = classifyGitHubError(error);
    if (kind === 'not_found' && !operation.endsWith('/access_tokens')) return undefined;
    throw error;
  }
}

/**
 * Whether GitHub may be away: no answer came, or one that does not show that GitHub is there. Only a
 * probe says which.
 */
export const isUnanswered = ({ kind, status }: GitHubFailure): boolean =>
  kind !== 'rate_limited' && !isAnswer(status);

function kindWithoutAnswer(error: RequestError): GitHubFailureKind {
  if (error.cause instanceof UnusableAnswerError) return 'unusable';
  return isTimeout(error) ? 'timeout' : 'network';
}

function classifyThrown(error: unknown): GitHubFailure {
  // Returns the wrapper itself: another caller may classify it again, and must not take its cause
  // for GitHub’s failure.
  if (error instanceof UnaskedError) throw error;
  if (error instanceof WaitError) {
    const { ms: retryAfterMs, operation } = error;
    return {
      kind: 'rate_limited',
      retryAfterMs,
      neverSent: true,
      message: redact(error.message),
      operation,
    };
  }
  const message = redact(error instanceof Error ? error.message : String(error));
  if (error instanceof UnusableAnswerError)
    return { kind: 'unusable', message, operation: error.operation };
  return { kind: isTimeout(error) ? 'timeout' : 'unknown', message, operation: 'unknown' };
}

function saysAlreadyExists(data: unknown): boolean {
  const { errors } = asRecord(data);
  return asList(errors).some((each) => asRecord(each)['code'] === 'already_exists');
}

/** Proxies between us and GitHub answer with these, and so does GitHub's own front. */
const isPage = (data: unknown): boolean =>
  typeof data === 'string' && /^\s*<(?:!doctype|html)/i.test(data);

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
 * A request that ran into its time limit: the platform names the cause (`AbortSignal.timeout`), and
 * undici's own limits carry codes. Looked at by shape, for a DOMException is an Error in some
 * realms only.
 */
const isTimeout = (error: unknown): boolean =>
  someCause(error, (cause) => 'name' in cause && cause.name === 'TimeoutError') ||
  hasCode(error, TIMEOUT_CODES);

const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean =>
  someCause(
    error,
    (cause) => 'code' in cause && typeof cause.code === 'string' && codes.has(cause.code),
  );

function someCause(error: unknown, is: (cause: object) => boolean): boolean {
  let cause = error;
  while (typeof cause === 'object' && cause !== null) {
    if (is(cause)) return true;
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return false;
}

const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The name was not found, or no server listened there, or there was no route. */
const NEVER_SENT_CODES = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Method and path. */
const describeOperation = (request: { readonly method: string; readonly url: string }): string =>
  `${request.method} ${pathOf(request.url)}`;

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);

// Tokens of every kind GitHub issues, JSON web tokens, and long runs of base64 (such as a JIT
// config).
const SECRETS =
  /\b(?:gh[a-z]_|github_pat_)[\w.-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+|[A-Za-z0-9+/]{120,}={0,2}/g;

/**
 * Searches only this many characters: on megabytes of hostile text the patterns would take hours.
 */
const LONGEST_READ = 10_000;

function redact(text: string): string {
  // Redacts before it shortens: the patterns would not recognise half a secret.
  const clean = text.slice(0, LONGEST_READ).replaceAll(SECRETS, '[redacted]');
  return clean.length > 500 ? `${clean.slice(0, 500)}…` : clean;
}
