/** A demand key whose waiting jobs outnumber its supply. */
export interface Shortage {
  readonly demandKey: number;
  readonly entityId: number;
  /** 0 where runners register at the organisation. */
  readonly scopeRepoId: number;
  readonly pool: string;
  /** How many workers it lacks; more than 0. */
  readonly lacking: number;
  /** When its oldest jobs were created, in seconds, the oldest first: at least the first, and more where jobs of other keys compete. */
  readonly jobTimes: readonly number[];
}

/** Live workers of one demand key: all that count against a cap. */
export interface LiveWorkers {
  readonly demandKey: number;
  readonly entityId: number;
  readonly scopeRepoId: number;
  readonly pool: string;
  readonly alive: number;
}

/** How many more workers there may be; Infinity where nothing binds. */
export interface Room {
  entity(entityId: number): number;
  pool(pool: string): number;
  key(shortage: Shortage): number;
}

export interface Sharing {
  readonly shortages: readonly Shortage[];
  readonly live: readonly LiveWorkers[];
  readonly room: Room;
  /** The share of a pool that an account is entitled to, against those of others; more than 0. */
  weight(entityId: number): number;
  /** At most so many are made now; what is left over is found by the next pass. */
  readonly most: number;
}

export interface Share {
  /** What the caps allow for the key. */
  readonly allowed: number;
  /** How many of those are made now. */
  readonly made: number;
}

/** One worker that may be made. */
interface Claim {
  readonly shortage: Shortage;
  readonly time: number;
  /** Of its repository (or of the organisation), counted over all pools, when this one is made. */
  ownShare: number;
  /** Workers per weight that its account has of the pool when this one is made. */
  poolShare: number;
}

/**
 * Shares out what the caps leave. Two sides choose:
 *
 * - an account spends its cap on the repository that has the fewest workers, and there on the oldest job;
 * - a pool gives its room to the account that has the least of it by its weight, and of equals to the oldest job.
 *
 * What a full pool refuses, the account asks for elsewhere, until nobody is refused any more. In the end no key lacks a worker while its
 * account, its pool and the key itself have room, and no account could have had a worker that went to one with more.
 */
export function shareRoom(sharing: Sharing): ReadonlyMap<number, Share> {
  const refused = new Set<Claim>();
  const claims = claimsOf(sharing);
  for (;;) {
    const granted = claims.flatMap(({ entityId, ordered }) => {
      const room = sharing.room.entity(entityId);
      const open = ordered.filter((claim) => !refused.has(claim));
      return open.length > room ? open.slice(0, room) : open;
    });
    const before = refused.size;
    for (const [pool, asked] of Map.groupBy(granted, ({ shortage }) => shortage.pool)) {
      for (const claim of beyond(asked, sharing.room.pool(pool))) refused.add(claim);
    }
    if (refused.size === before) return countPerKey(granted, sharing.most);
  }
}

const beyond = (asked: readonly Claim[], room: number): Claim[] => (asked.length <= room ? [] : asked.toSorted(byPoolShare).slice(room));

function countPerKey(granted: Claim[], most: number): ReadonlyMap<number, Share> {
  const made = new Set(granted.length <= most ? granted : granted.toSorted(byPoolShare).slice(0, most));
  const shares = new Map<number, Share>();
  for (const claim of granted) {
    const before = shares.get(claim.shortage.demandKey) ?? { allowed: 0, made: 0 };
    shares.set(claim.shortage.demandKey, { allowed: before.allowed + 1, made: before.made + (made.has(claim) ? 1 : 0) });
  }
  return shares;
}

/** What each account may ask for, in the order in which it wants it. */
function claimsOf({ shortages, live, room, weight, most }: Sharing): { entityId: number; ordered: Claim[] }[] {
  const ofRepository = countBy(live, repositoryOf);
  const ofPool = countBy(live, poolOf);
  return [...Map.groupBy(shortages, ({ entityId }) => entityId)].map(([entityId, own]) => {
    const claims = own.flatMap((shortage) => {
      const bounds = [shortage.lacking, room.key(shortage), room.pool(shortage.pool), room.entity(entityId), most];
      return Array.from({ length: Math.max(0, Math.min(...bounds)) }, (_, nth) => claimOf(shortage, nth));
    });
    for (const [repository, same] of Map.groupBy(claims, ({ shortage }) => repositoryOf(shortage))) {
      const has = ofRepository.get(repository) ?? 0;
      for (const [nth, claim] of same.toSorted(byAge).entries()) claim.ownShare = has + nth;
    }
    const ordered = claims.toSorted(byOwnShare);
    for (const [pool, same] of Map.groupBy(ordered, ({ shortage }) => poolOf(shortage))) {
      const has = ofPool.get(pool) ?? 0;
      for (const [nth, claim] of same.entries()) claim.poolShare = (has + nth) / weight(entityId);
    }
    return { entityId, ordered };
  });
}

const claimOf = (shortage: Shortage, nth: number): Claim => ({
  shortage,
  time: shortage.jobTimes[nth] ?? shortage.jobTimes.at(-1) ?? 0,
  ownShare: 0,
  poolShare: 0,
});

type Place = Pick<LiveWorkers, 'entityId' | 'scopeRepoId' | 'pool'>;
const repositoryOf = ({ entityId, scopeRepoId }: Place): string => `${entityId} ${scopeRepoId}`;
const poolOf = ({ entityId, pool }: Place): string => `${entityId} ${pool}`;

function countBy(live: readonly LiveWorkers[], keyOf: (place: Place) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const workers of live) counts.set(keyOf(workers), (counts.get(keyOf(workers)) ?? 0) + workers.alive);
  return counts;
}

// Sorting keeps the order of equals, and claims of one key are made in the order of their jobs.
const byAge = (a: Claim, b: Claim): number => a.time - b.time || a.shortage.demandKey - b.shortage.demandKey;
const byOwnShare = (a: Claim, b: Claim): number => a.ownShare - b.ownShare || byAge(a, b);
const byPoolShare = (a: Claim, b: Claim): number => a.poolShare - b.poolShare || byAge(a, b);
