import { decodeJwt } from 'jose';
import type { Answer } from './route.ts';
import type { RateResource } from './rate-limits.ts';
import type { World } from './world.ts';

/**
 * What a caller was told to wait, by whose name it calls; for one hourly budget that with the
 * budget's name after it.
 */
export type ToldWaits = Map<string, { readonly toldAt: number; readonly until: number }>;

/** The call as far as waiting goes: who makes it, and which hourly budget it counts against. */
type Made = {
  readonly caller: string | undefined;
  readonly resource: RateResource;
  readonly operation: string;
};

/** By whom the request says that it is made, true or not; undefined if by nobody known. */
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

/** Counts a call that its caller was told not to make yet. */
export function noteCall(world: World, made: Made): void {
  const now = world.now();
  const lateMs = keysOf(made).flatMap((key) => {
    const wait = world.toldWaits.get(key);
    return wait !== undefined && now < wait.until ? [now - wait.toldAt] : [];
  });
  const latest = Math.max(0, ...lateMs);
  if (latest > world.onItsWayMs)
    world.callsAgainstWait.push(`${made.operation} by ${made.caller}, ${latest} ms late`);
}

/** Remembers what an answer tells its caller to wait. */
export function noteAnswer(world: World, made: Made, { status, headers = {} }: Answer): void {
  const [ofAll, ofBudget] = keysOf(made);
  const now = world.now();
  const retryAfter = Number(headers['retry-after']);
  if (status >= 400 && retryAfter > 0) tell(world, ofAll, now + retryAfter * 1000);
  if (headers['x-ratelimit-remaining'] === '0')
    tell(world, ofBudget, Number(headers['x-ratelimit-reset']) * 1000);
}

const keysOf = ({ caller, resource }: Made): string[] =>
  caller === undefined ? [] : [caller, `${caller} ${resource}`];

/** The longest wait stands, from when the first was told that had not ended. */
function tell({ toldWaits, now }: World, key: string | undefined, until: number): void {
  if (key === undefined || !(until > now())) return;
  const known = toldWaits.get(key);
  const isOver = known === undefined || known.until <= now();
  toldWaits.set(key, {
    toldAt: isOver ? now() : known.toldAt,
    until: isOver ? until : Math.max(known.until, until),
  });
}
