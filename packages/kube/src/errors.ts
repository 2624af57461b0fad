import { isRecord } from '@paddock/domain/pools/as-record';
import { isAnswer } from '@paddock/runtime/reach';

export type KubeFailureKind =
  | 'not_found'
  | 'exists'
  | 'conflict'
  | 'forbidden'
  | 'gone'
  | 'invalid'
  | 'too_many_requests'
  | 'unauthorized'
  | 'unavailable'
  | 'timeout'
  | 'network'
  | 'unknown';

/** Why a call to the cluster failed, in terms that decide what to do next. */
export interface KubeFailure {
  readonly kind: KubeFailureKind;
  /** HTTP status; absent without an answer. */
  readonly status?: number;
  /** The reason word of the Status object, such as `AlreadyExists`. */
  readonly reason?: string;
  /** For people: the call, its object, and the cluster's words. Never a Secret's content. */
  readonly message: string;
  /** How long the cluster asks us to wait. */
  readonly retryAfterMs?: number;
}

const TRANSIENT: ReadonlySet<KubeFailureKind> = new Set([
  'too_many_requests',
  'unavailable',
  'timeout',
  'network',
]);

/** Whether the same call may succeed a little later: the cluster is busy or away. */
export const isTransient = ({ kind }: KubeFailure): boolean => TRANSIENT.has(kind);

/** The only error of this package's calls, except that a caller's signal may abort them. */
export class KubeError extends Error {
  readonly failure: KubeFailure;

  constructor(failure: KubeFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = 'KubeError';
    this.failure = failure;
  }
}

/**
 * The failure behind an error. It is classified by HTTP status and reason, never by message text.
 */
export function classifyKubeError(error: unknown): KubeFailure {
  if (error instanceof KubeError) return error.failure;
  return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
}

/** The call's answer, or undefined if it failed in this way. */
export async function unless<T>(kind: KubeFailureKind, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (classifyKubeError(error).kind === kind) return undefined;
    throw error;
  }
}

/**
 * Whether the API server cannot be reached, as opposed to a failure of one call. An internal error
 * concerns one call: most often a webhook failed.
 */
export const isAway = ({ kind, reason }: KubeFailure): boolean =>
  kind === 'network' ||
  kind === 'timeout' ||
  (kind === 'unavailable' && reason !== 'InternalError');

/** The level of a failed call: a probe that is not answered has its own line in the log. */
export const levelOf = (failure: KubeFailure) => (isAway(failure) ? 'debug' : 'warn');

/**
 * Whether the API server may be away: no answer came, or one that any server gives that is too busy
 * (429), does not know us (401), or stands before it. Only a probe says which.
 */
export const isUnanswered = ({ status }: KubeFailure): boolean =>
  !isAnswer(status) || status === 401 || status === 429;

/** The reasons in a Kubernetes Status object. All are absent if a proxy answered instead. */
export interface StatusObject {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** The object concerned, such as `namespaces "runners"`. */
  readonly subject?: string;
}

/** Reads a Status from a body or a watch's ERROR event. Gives an empty one for any other value. */
export function readStatus(value: unknown): StatusObject {
  if (!isRecord(value) || value['kind'] !== 'Status') return {};
  const details = isRecord(value['details']) ? value['details'] : {};
  return {
    ...(typeof value['code'] === 'number' ? { code: value['code'] } : {}),
    ...(typeof value['reason'] === 'string' ? { reason: value['reason'] } : {}),
    ...(typeof value['message'] === 'string' ? { message: value['message'] } : {}),
    ...(typeof details['retryAfterSeconds'] === 'number'
      ? { retryAfterSeconds: details['retryAfterSeconds'] }
      : {}),
    ...(typeof details['kind'] === 'string' && typeof details['name'] === 'string'
      ? { subject: `${details['kind']} ${JSON.stringify(details['name'])}` }
      : {}),
  };
}

/**
 * The part of an answer that may be shown if the call's body was secret. The cluster's sentence may
 * quote the body, so only phrases that name the violated rule are kept.
 */
export function redactedWords({ subject, message = '' }: StatusObject): string | undefined {
  const phrases = [...message.matchAll(RULES)].map(([phrase]) => phrase);
  const words = [subject, phrases.join(', ')]
    .filter((part) => part !== undefined && part !== '')
    .join(': ');
  return words === '' ? undefined : words;
}

const RULES =
  /\b(?:exceeded quota: [a-z\d.-]{1,253}|cannot \w+ resource "secrets"|admission webhook "[a-z\d.-]{1,253}" denied the request)/g;

/** The kind of an answered failure. The reason decides first: 409 is AlreadyExists or Conflict. */
export function kindOf(status: number, reason: string | undefined): KubeFailureKind {
  return kindOfReason(reason) ?? kindOfStatus(status);
}

function kindOfReason(reason: string | undefined): KubeFailureKind | undefined {
  switch (reason ?? '') {
    case 'NotFound':
      return 'not_found';
    case 'AlreadyExists':
      return 'exists';
    case 'Conflict':
      return 'conflict';
    case 'Forbidden':
      return 'forbidden';
    case 'Unauthorized':
      return 'unauthorized';
    case 'Gone':
    case 'Expired':
      return 'gone';
    case 'Invalid':
    case 'BadRequest':
    case 'RequestEntityTooLarge':
      return 'invalid';
    case 'TooManyRequests':
      return 'too_many_requests';
    case 'Timeout':
      return 'timeout';
    case 'ServerTimeout':
    case 'ServiceUnavailable':
    case 'InternalError':
      return 'unavailable';
    // Kubernetes may add reasons. For those the status decides.
    default:
      return undefined;
  }
}

function kindOfStatus(status: number): KubeFailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 409) return 'conflict';
  if (status === 410) return 'gone';
  if (status === 429) return 'too_many_requests';
  if (status >= 400 && status < 500) return 'invalid';
  if (status >= 500) return 'unavailable';
  return 'unknown';
}
