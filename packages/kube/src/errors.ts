import { asRecord } from '@paddock/domain/pools/as-record';
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
  readonly status?: number | undefined;
  /** The reason word of the Status object, such as `AlreadyExists`. */
  readonly reason?: string | undefined;
  /** For people: the call, its object, and the cluster's words. Never a Secret's content. */
  readonly message: string;
  /** How long the cluster asks us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** Whether the same call may succeed a little later: the cluster is busy or away. */
export const isTransient = ({ kind }: KubeFailure): boolean =>
  ['too_many_requests', 'unavailable', 'timeout', 'network'].includes(kind);

/** The only error of this package's calls, except that a caller's signal may abort them. */
export class KubeError extends Error {
  readonly failure: KubeFailure;

  constructor(failure: KubeFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = 'KubeError';
    this.failure = failure;
  }
}

/** The failure behind an error. */
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
 * Whether the API server may be away: no answer came, or that of a server that is too busy (429),
 * does not know us (401), has just started (403), or stands before it. Only a probe says which.
 */
export const isUnanswered = ({ kind, status }: KubeFailure): boolean =>
  !isAnswer(status) || kind === 'unavailable' || [401, 403, 429].includes(Number(status));

/** The reasons in a Kubernetes Status object. All are absent if a proxy answered instead. */
export interface StatusObject {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The object concerned, such as `namespaces "runners"`. */
  readonly subject?: string | undefined;
}

/** Reads a Status from a body or a watch's ERROR event. Gives an empty one for any other value. */
export function readStatus(value: unknown): StatusObject {
  const { kind, code, reason, message, details } = asRecord(value);
  if (kind !== 'Status') return {};
  const { kind: of, name, retryAfterSeconds } = asRecord(details);
  return {
    code: ifNumber(code),
    reason: ifText(reason),
    message: ifText(message),
    retryAfterSeconds: ifNumber(retryAfterSeconds),
    subject:
      typeof of === 'string' && typeof name === 'string'
        ? `${of} ${JSON.stringify(name)}`
        : undefined,
  };
}

const ifNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
const ifText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/**
 * The part of an answer that may be shown if the call's body was secret. The cluster's sentence may
 * quote the body, so only phrases that name the violated rule are kept.
 */
export function redactedWords({ subject, message = '' }: StatusObject): string {
  const phrases = [...message.matchAll(RULES)].map(([phrase]) => phrase);
  return [subject ?? '', phrases.join(', ')].filter((part) => part !== '').join(': ');
}

const RULES =
  /\b(?:exceeded quota: [a-z\d.-]{1,253}|cannot \w+ resource "secrets"|admission webhook "[a-z\d.-]{1,253}" denied the request|failed calling webhook "[a-z\d.-]{1,253}"|ValidatingAdmissionPolicy '[a-z\d.-]{1,253}'|namespace [a-z\d-]{1,63} because it is being terminated)/g;

const KINDS: ReadonlyMap<number, KubeFailureKind> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [408, 'timeout'],
  [409, 'conflict'],
  [410, 'gone'],
  [429, 'too_many_requests'],
  [504, 'timeout'],
]);

/** The kind of an answered failure. The reason tells the two of 409 apart. */
export function kindOf(status: number, reason: string | undefined): KubeFailureKind {
  if (reason === 'AlreadyExists') return 'exists';
  const otherwise = status >= 500 ? 'unavailable' : status >= 400 ? 'invalid' : 'unknown';
  return KINDS.get(status) ?? otherwise;
}
