/** The memory of this process for deliveries that are neither stored nor refused yet. */
export interface BodyBudget {
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
  readonly heldBytes: number;
  readonly requests: number;
  /**
   * Admits a request; undefined if there are too many. Calls `cutOff` if its body must make room.
   */
  admit(cutOff: () => void): Claim | undefined;
}

/** The room that one request holds. */
export interface Claim {
  /** Takes room for `bytes` more; false if there is none. */
  hold(bytes: number): boolean;
  /** The body has arrived whole, and is not cut off from now on. */
  arrived(): void;
  /** Gives all room back. Further calls do nothing. */
  release(): void;
}

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxHeldBytes: number;
  readonly maxRequests?: number;
}

/** Most deliveries that arrive or wait to be stored at one time. */
const MOST_REQUESTS = 10_000;

/** GitHub's bodies have 7 to 30 KB; few are larger than this. */
const ORDINARY_BYTES = 262_144;

/** A body makes progress with each part of this size: a TCP connection's initial window. */
const PROGRESS_BYTES = 16_384;

/** A body without progress for this long trickles. TCP's slow start across an ocean is faster. */
const TRICKLES_AFTER_MS = 250;

interface Share {
  readonly maxBytes: number;
  readonly maxBodies: number;
  bytes: number;
  bodies: number;
  /** Bodies that have not arrived whole. The one whose progress is oldest comes first. */
  readonly arriving: Set<Body>;
}

interface Body {
  readonly cutOff: () => void;
  share: Share;
  isReleased: boolean;
  bytes: number;
  /** Its size at its last progress. `progressAt`: the time of that. */
  progressBytes: number;
  progressAt: number;
}

/**
 * A signature can be checked only on a whole body, so any sender can fill this memory with endless
 * bodies. Therefore large bodies have a few places and their own share of memory. If there is no
 * room, bodies that trickle are cut off. `now` is in milliseconds.
 */
export function createBodyBudget(
  limits: BodyLimits,
  now: () => number = () => performance.now(),
): BodyBudget {
  const places = largePlaces(limits);
  const large = createShare(places * limits.maxBodyBytes, places);
  const ordinary = createShare(
    limits.maxHeldBytes - large.maxBytes,
    limits.maxRequests ?? MOST_REQUESTS,
  );

  /** Cuts off bodies that trickle, until there is room. Each gives its room back at once. */
  function makeRoom(share: Share, bodies: number, bytes: number): boolean {
    while (share.bodies + bodies > share.maxBodies || share.bytes + bytes > share.maxBytes) {
      const [slowest] = share.arriving;
      if (slowest === undefined || now() - slowest.progressAt < TRICKLES_AFTER_MS) return false;
      slowest.cutOff();
    }
    return true;
  }

  function hold(body: Body, bytes: number): boolean {
    const size = body.bytes + bytes;
    if (size - body.progressBytes >= PROGRESS_BYTES) noteProgress(body, size, now());
    const outgrows = body.share === ordinary && places > 0 && size > ORDINARY_BYTES;
    const hasRoom = outgrows ? makeRoom(large, 1, size) : makeRoom(body.share, 0, bytes);
    // `makeRoom` may have cut off this body itself.
    if (!hasRoom || body.isReleased) return false;
    if (outgrows) move(body, large);
    body.bytes = size;
    body.share.bytes += bytes;
    return true;
  }

  return {
    maxBodyBytes: limits.maxBodyBytes,
    get heldBytes() {
      return ordinary.bytes + large.bytes;
    },
    get requests() {
      return ordinary.bodies + large.bodies;
    },
    admit: (cutOff) => {
      if (!makeRoom(ordinary, 1, 0)) return undefined;
      const body: Body = {
        cutOff,
        share: ordinary,
        isReleased: false,
        bytes: 0,
        progressBytes: 0,
        progressAt: now(),
      };
      enter(body, ordinary);
      return {
        hold: (bytes) => hold(body, bytes),
        arrived: () => void body.share.arriving.delete(body),
        release: () => {
          if (!body.isReleased) leave(body);
          body.isReleased = true;
        },
      };
    },
  };
}

const createShare = (maxBytes: number, maxBodies: number): Share => ({
  maxBytes,
  maxBodies,
  bytes: 0,
  bodies: 0,
  arriving: new Set(),
});

function enter(body: Body, share: Share): void {
  body.share = share;
  share.bodies++;
  share.bytes += body.bytes;
  share.arriving.add(body);
}

function leave(body: Body): void {
  body.share.bodies--;
  body.share.bytes -= body.bytes;
  body.share.arriving.delete(body);
}

function move(body: Body, share: Share): void {
  leave(body);
  enter(body, share);
}

/** Moves the body to the end of those that arrive. */
function noteProgress(body: Body, bytes: number, at: number): void {
  body.progressBytes = bytes;
  body.progressAt = at;
  body.share.arriving.delete(body);
  body.share.arriving.add(body);
}

/**
 * Large bodies take at most half of the memory, but at least one has a place. None, if none can be
 * large.
 */
function largePlaces({ maxBodyBytes, maxHeldBytes }: BodyLimits): number {
  return maxBodyBytes <= ORDINARY_BYTES
    ? 0
    : Math.max(1, Math.floor(maxHeldBytes / 2 / maxBodyBytes));
}
