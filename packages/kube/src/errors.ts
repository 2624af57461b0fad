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

/** What went wrong in a call to the cluster, in terms that decide what to do next. */
export interface KubeFailure {
  readonly kind: KubeFailureKind;
  /** HTTP status; absent when no answer came. */
  readonly status?: number;
  /** The reason word of the Status object, such as `AlreadyExists`. */
  readonly reason?: string;
  /** For people: what was attempted, on what, and what the cluster said. Holds no Secret's content. */
  readonly message: string;
  /** How long the cluster asks us to stay away. */
  readonly retryAfterMs?: number;
}

const PASSING: ReadonlySet<KubeFailureKind> = new Set(['too_many_requests', 'unavailable', 'timeout', 'network']);

/** Whether the same call may succeed a little later: the cluster is busy or away, and has not judged it. */
export const isPassing = ({ kind }: KubeFailure): boolean => PASSING.has(kind);

/** Every function of this package that talks to a cluster throws this and nothing else, except when its caller's signal aborts. */
export class KubeError extends Error {
  readonly failure: KubeFailure;

  constructor(failure: KubeFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = 'KubeError';
    this.failure = failure;
  }
}

/** The failure behind whatever a function of this package threw: classified by HTTP status and Kubernetes reason, never by message text. */
export function classifyKubeError(error: unknown): KubeFailure {
  if (error instanceof KubeError) return error.failure;
  return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
}

/**
 * Whether the API server, or the way to it, is away, as against a refusal of this one call. An internal error is of one call: most often a
 * webhook fails.
 */
export const isAway = ({ kind, reason }: KubeFailure): boolean =>
  kind === 'network' || kind === 'timeout' || (kind === 'unavailable' && reason !== 'InternalError');

/** The part of a Kubernetes Status object that says why; everything may be missing when a proxy answers instead of the API server. */
export interface StatusObject {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** The object it is about, such as `namespaces "runners"`. */
  readonly subject?: string;
}

/** Reads a Status object from a body or from the object of a watch's ERROR event; anything else gives an empty one. */
export function readStatus(value: unknown): StatusObject {
  if (!isRecord(value) || value['kind'] !== 'Status') return {};
  const details = isRecord(value['details']) ? value['details'] : {};
  return {
    ...(typeof value['code'] === 'number' ? { code: value['code'] } : {}),
    ...(typeof value['reason'] === 'string' ? { reason: value['reason'] } : {}),
    ...(typeof value['message'] === 'string' ? { message: value['message'] } : {}),
    ...(typeof details['retryAfterSeconds'] === 'number' ? { retryAfterSeconds: details['retryAfterSeconds'] } : {}),
    ...(typeof details['kind'] === 'string' && typeof details['name'] === 'string'
      ? { subject: `${details['kind']} ${JSON.stringify(details['name'])}` }
      : {}),
  };
}

/**
 * What may be told of the answer to a call whose body is a secret. The cluster's sentence may quote the body, so no more of it is taken than
 * the phrases that say which rule was in the way.
 */
export function wordsWithoutContent({ subject, message = '' }: StatusObject): string | undefined {
  const phrases = [...message.matchAll(RULES)].map(([phrase]) => phrase);
  const words = [subject, phrases.join(', ')].filter((part) => part !== undefined && part !== '').join(': ');
  return words === '' ? undefined : words;
}

const RULES =
  /\b(?:exceeded quota: [a-z\d.-]{1,253}|cannot \w+ resource "secrets"|admission webhook "[a-z\d.-]{1,253}" denied the request)/g;

/** The kind of a failure that was answered. The reason decides first, for one status carries several: 409 is AlreadyExists or Conflict. */
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
    // The reasons are an open set: Kubernetes adds new ones, and then the status decides.
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

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
