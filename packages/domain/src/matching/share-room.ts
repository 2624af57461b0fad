/** A demand key that lacks workers. */
export interface Shortage {
  readonly demandKey: number;
  readonly entityId: number;
  /** 0 where runners register at the organisation. */
  readonly scopeRepoId: number;
  readonly pool: string;
  /** How many; at least 1. */
  readonly lacking: number;
  /**
   * When its oldest jobs became known, in seconds, the oldest first. One is enough, unless jobs of
   * other keys compete.
   */
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
  /** For all entities that share a cap, if this is one of them. */
  common(entityId: number): number;
  pool(pool: string): number;
  key(shortage: Pick<Shortage, 'demandKey'>): number;
}

export interface Sharing {
  readonly shortages: readonly Shortage[];
  readonly live: readonly LiveWorkers[];
  readonly room: Room;
  /** An entity's share of a pool in proportion to others; more than 0. */
  weight(entityId: number): number;
  /** The entities that share as if they were one, and their weight together. */
  readonly common: { has(entityId: number): boolean; readonly weight: number };
  /** How many are made now at most; the next pass finds the rest. */
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
  readonly entity: Entity;
  readonly time: number;
  /** Workers that its repository, or its organisation, has in all pools when this one is made. */
  ownShare: number;
  /** Workers per weight that its entity has of the pool when this one is made. */
  poolShare: number;
  /** Its place among all claims on the pool: 0 is the first to get one. */
  rank: number;
  isGranted: boolean;
}

interface Entity {
  readonly entityId: number;
  readonly room: number;
  /** The first is the one that it wants most. */
  claims: readonly Claim[];
  /** How many it has asked for, and how many of those are granted. */
  asked: number;
  granted: number;
}

/** A pool's room, with all claims on it by rank. */
interface Places {
  readonly ranked: readonly Claim[];
  readonly room: number;
  taken: number;
  /** The highest rank that is granted; -1 if none. */
  last: number;
}

/**
 * Shares out the room under the caps. Two sides choose:
 *
 * - an entity spends its cap on the repository that has the fewest workers, and there on the oldest
 *   job;
 * - a pool gives its room to the entity with the least by its weight. On a tie the oldest job
 *   comes first. Entities that share as one count as one entity there, and share among each other
 *   likewise.
 *
 * An entity asks elsewhere for workers that a full pool refuses, until no claim is refused. The
 * result is a stable allocation: it is the same in any order of the entities. No key lacks a worker
 * while its entity, its pool and the key itself have room, and no worker goes to an entity with
 * more that another entity wanted. Each claim is asked for once at most, so the cost is that of
 * sorting them.
 */
export function shareRoom(sharing: Sharing): ReadonlyMap<number, Share> {
  const entities = claimsOf(sharing);
  const granted = allot(entities, sharing);
  const kept = withinCommon(granted, sharing);
  if (kept === undefined) return countPerKey(granted, sharing.most);
  for (const entity of entities) {
    if (sharing.common.has(entity.entityId))
      entity.claims = entity.claims.filter((claim) => kept.has(claim));
  }
  return countPerKey(allot(entities, sharing), sharing.most);
}

/** The claims that are granted when each entity asks for its own in order. */
function allot(entities: readonly Entity[], sharing: Sharing): Claim[] {
  const claims = entities.flatMap((entity) => entity.claims);
  const pools = placesOf(claims, sharing);
  const open = [...entities];
  for (const entity of entities) Object.assign(entity, { asked: 0, granted: 0 });
  for (const claim of claims) claim.isGranted = false;
  for (let entity = open.pop(); entity !== undefined; entity = open.pop()) {
    while (entity.granted < entity.room) {
      const claim = entity.claims[entity.asked];
      if (claim === undefined) break;
      entity.asked += 1;
      const loser = takePlace(pools.get(claim.shortage.pool), claim);
      if (loser === claim) continue;
      entity.granted += 1;
      if (loser === undefined) continue;
      loser.entity.granted -= 1;
      open.push(loser.entity);
    }
  }
  return claims.filter(({ isGranted }) => isGranted);
}

/**
 * The claims of entities that share a cap, as many as it leaves, where entities with the fewest
 * workers come first. Undefined: it leaves all. When all ask again, given-up room goes to others.
 * Claims that are kept were granted beside more rivals, so they are granted again.
 */
function withinCommon(
  granted: readonly Claim[],
  { live, room, common }: Sharing,
): ReadonlySet<Claim> | undefined {
  const shared = granted.filter(({ entity }) => common.has(entity.entityId));
  const [first] = shared;
  const most = first === undefined ? 0 : room.common(first.entity.entityId);
  if (shared.length <= most) return undefined;
  const has = countBy(live, ({ entityId }) => entityId);
  const turns = [...Map.groupBy(shared, ({ entity }) => entity)].flatMap(([{ entityId }, own]) =>
    own.map((claim, nth) => ({ claim, turn: (has.get(entityId) ?? 0) + nth })),
  );
  const inTurn = turns
    .toSorted((a, b) => a.turn - b.turn || byAge(a.claim, b.claim))
    .map(({ claim }) => claim);
  return new Set(inTurn.slice(0, most));
}

/**
 * Grants the claim if there is room, or in the place of one that ranks behind it. Returns the claim
 * that goes without: itself, the other one, or none.
 */
function takePlace(places: Places | undefined, claim: Claim): Claim | undefined {
  if (places === undefined || (places.taken >= places.room && claim.rank > places.last))
    return claim;
  claim.isGranted = true;
  if (places.taken < places.room) {
    places.taken += 1;
    places.last = Math.max(places.last, claim.rank);
    return undefined;
  }
  const loser = places.ranked[places.last];
  if (loser !== undefined) loser.isGranted = false;
  while (places.last >= 0 && places.ranked[places.last]?.isGranted !== true) places.last -= 1;
  return loser;
}

function placesOf(
  claims: readonly Claim[],
  { live, room, common }: Sharing,
): ReadonlyMap<string, Places> {
  const places = [...Map.groupBy(claims, ({ shortage }) => shortage.pool)].map(([pool, asked]) => {
    const shared = asked.filter(({ entity }) => common.has(entity.entityId));
    // Where no other entity asks, they are compared with each other only.
    if (shared.length < asked.length) {
      const has = live.reduce(
        (sum, one) => sum + (one.pool === pool && common.has(one.entityId) ? one.alive : 0),
        0,
      );
      for (const [nth, claim] of shared.toSorted(byPoolShare).entries())
        claim.poolShare = (has + nth) / common.weight;
    }
    const ranked = asked.toSorted(byPoolShare);
    for (const [rank, claim] of ranked.entries()) claim.rank = rank;
    return [pool, { ranked, room: room.pool(pool), taken: 0, last: -1 }] as const;
  });
  return new Map(places);
}

function countPerKey(granted: Claim[], most: number): ReadonlyMap<number, Share> {
  const made = new Set(
    granted.length <= most ? granted : granted.toSorted(byPoolShare).slice(0, most),
  );
  const shares = new Map<number, Share>();
  for (const claim of granted) {
    const before = shares.get(claim.shortage.demandKey) ?? { allowed: 0, made: 0 };
    shares.set(claim.shortage.demandKey, {
      allowed: before.allowed + 1,
      made: before.made + (made.has(claim) ? 1 : 0),
    });
  }
  return shares;
}

/** The entities with the number that each may ask for. */
function claimsOf({ shortages, live, room, weight, most }: Sharing): Entity[] {
  const ofRepository = countBy(live, ({ entityId, scopeRepoId }) => `${entityId} ${scopeRepoId}`);
  const ofPool = countBy(live, ({ entityId, pool }) => `${entityId} ${pool}`);
  return [...Map.groupBy(shortages, ({ entityId }) => entityId)].map(([entityId, own]) => {
    const entity: Entity = {
      entityId,
      room: room.entity(entityId),
      claims: [],
      asked: 0,
      granted: 0,
    };
    const claims = own.flatMap((shortage) => {
      const bounds = [
        shortage.lacking,
        room.key(shortage),
        room.pool(shortage.pool),
        entity.room,
        room.common(entityId),
        most,
      ];
      return Array.from({ length: Math.max(0, Math.min(...bounds)) }, (_, nth) =>
        claimOf(entity, shortage, nth),
      );
    });
    for (const [scopeRepoId, same] of Map.groupBy(claims, ({ shortage }) => shortage.scopeRepoId)) {
      const has = ofRepository.get(`${entityId} ${scopeRepoId}`) ?? 0;
      for (const [nth, claim] of same.toSorted(byAge).entries()) claim.ownShare = has + nth;
    }
    entity.claims = claims.toSorted(byOwnShare);
    for (const [pool, same] of Map.groupBy(entity.claims, ({ shortage }) => shortage.pool)) {
      const has = ofPool.get(`${entityId} ${pool}`) ?? 0;
      for (const [nth, claim] of same.entries()) claim.poolShare = (has + nth) / weight(entityId);
    }
    return entity;
  });
}

const claimOf = (entity: Entity, shortage: Shortage, nth: number): Claim => ({
  shortage,
  entity,
  time: shortage.jobTimes[nth] ?? shortage.jobTimes.at(-1) ?? 0,
  ownShare: 0,
  poolShare: 0,
  rank: 0,
  isGranted: false,
});

/** How many workers live, by what each row of them is of. */
export function countBy<K>(
  live: readonly LiveWorkers[],
  keyOf: (workers: LiveWorkers) => K,
): ReadonlyMap<K, number> {
  const counts = new Map<K, number>();
  for (const workers of live)
    counts.set(keyOf(workers), (counts.get(keyOf(workers)) ?? 0) + workers.alive);
  return counts;
}

// Sorting is stable, and claims of one key stand in the order of their jobs.
const byAge = (a: Claim, b: Claim): number =>
  a.time - b.time || a.shortage.demandKey - b.shortage.demandKey;
const byOwnShare = (a: Claim, b: Claim): number => a.ownShare - b.ownShare || byAge(a, b);
const byPoolShare = (a: Claim, b: Claim): number => a.poolShare - b.poolShare || byAge(a, b);
