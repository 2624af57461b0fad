import { decodeJwt } from 'jose';
import type { Answer } from './route.ts';
import type { RateBucket, RateResource, World } from './world.ts';

const WINDOW_MS = 3_600_000;
const LIMITS: Readonly<Record<RateResource, number>> = {
  // Of an organisation in Enterprise Cloud. Others have 5 000, which a demo's quick sweeps use up.
  core: 15_000,
  actions_runner_registration: 10_000,
};

/** The hourly budget of one caller (an App or an installation) for one resource. */
export function bucketOf(world: World, caller: string, resource: RateResource): RateBucket {
  const key = `${caller} ${resource}`;
  const known = world.rateBuckets.get(key);
  if (known !== undefined && known.resetAt > world.now()) return known;
  const fresh = {
    limit: LIMITS[resource],
    used: 0,
    resetAt: world.now() + WINDOW_MS,
  };
  world.rateBuckets.set(key, fresh);
  return fresh;
}

export function rateHeaders(bucket: RateBucket, resource: RateResource): Record<string, string> {
  return {
    'x-ratelimit-limit': String(bucket.limit),
    'x-ratelimit-remaining': String(Math.max(bucket.limit - bucket.used, 0)),
    'x-ratelimit-reset': String(Math.ceil(bucket.resetAt / 1000)),
    'x-ratelimit-used': String(Math.min(bucket.used, bucket.limit)),
    'x-ratelimit-resource': resource,
  };
}

/**
 * The facts of a call that decide about waiting: its caller, and the hourly budget that it counts
 * against.
 */
type Made = {
  readonly caller: string | undefined;
  readonly resource: RateResource;
  readonly operation: string;
};

/** The caller that the request names, true or not; undefined if there is no such caller. */
export function callerOf(world: World, authorization: string | undefined): string | undefined {
  const credential = /^(?:token|bearer) (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const token = world.tokens.get(credential);
  if (token !== undefined) return `installation ${token.installationId}`;
  try {
    return `app ${decodeJwt(credential).iss}`;
  } catch {
    return undefined;
  }
}

/** Counts a call that its caller should not have made yet. */
export function noteCall(world: World, made: Made): void {
  const now = world.now();
  const lateMs = keysOf(made).flatMap((key) => {
    const wait = world.requestedWaits.get(key);
    return wait !== undefined && now < wait.until ? [now - wait.requestedAt] : [];
  });
  const latest = Math.max(0, ...lateMs);
  if (latest > world.onItsWayMs)
    world.callsAgainstWait.push(`${made.operation} by ${made.caller}, ${latest} ms late`);
}

/** Remembers the wait that an answer asks its caller for. */
export function noteAnswer(world: World, made: Made, { status, headers = {} }: Answer): void {
  const [ofAll, ofBudget] = keysOf(made);
  const now = world.now();
  const retryAfter = Number(headers['retry-after']);
  if (status >= 400 && retryAfter > 0) noteWait(world, ofAll, now + retryAfter * 1000);
  if (headers['x-ratelimit-remaining'] === '0')
    noteWait(world, ofBudget, Number(headers['x-ratelimit-reset']) * 1000);
}

const keysOf = ({ caller, resource }: Made): string[] =>
  caller === undefined ? [] : [caller, `${caller} ${resource}`];

/** The longest wait counts, from the first of the waits that have not ended. */
function noteWait({ requestedWaits, now }: World, key: string | undefined, until: number): void {
  if (key === undefined || !(until > now())) return;
  const known = requestedWaits.get(key);
  const isOver = known === undefined || known.until <= now();
  requestedWaits.set(key, {
    requestedAt: isOver ? now() : known.requestedAt,
    until: isOver ? until : Math.max(known.until, until),
  });
}
