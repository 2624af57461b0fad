import type { RateBucket, World } from './world.ts';

export type RateResource = keyof World['rateLimits'];

const WINDOW_MS = 3_600_000;

/** The hourly budget of one caller (an App or an installation) for one resource. */
export function bucketOf(world: World, caller: string, resource: RateResource): RateBucket {
  const key = `${caller} ${resource}`;
  const known = world.rateBuckets.get(key);
  if (known !== undefined && known.resetAt > world.now()) return known;
  const fresh = {
    limit: known?.limit ?? world.rateLimits[resource],
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
