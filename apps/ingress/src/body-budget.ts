/** The room in this process that all deliveries share which are neither stored nor refused. */
export interface BodyBudget {
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
  readonly heldBytes: number;
  readonly requests: number;
  /** Lets a request in, or undefined where there are too many. `cutOff` is called if its body is to make room for another. */
  admit(cutOff: () => void): Claim | undefined;
}

/** What one request holds. */
export interface Claim {
  /** Asks for room for `bytes` more; false where there is none. */
  hold(bytes: number): boolean;
  /** The body is here whole, and is safe from being cut off. */
  arrived(): void;
  /** Gives everything back, once. */
  release(): void;
}

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxHeldBytes: number;
  readonly maxRequests?: number;
}

/** Most deliveries that arrive or wait to be stored at one time. */
const MOST_REQUESTS = 10_000;

/** GitHub's bodies have 7 to 30 KB, and few have more than this. */
const ORDINARY_BYTES = 262_144;

/** A body makes progress with each further part of this size: what a TCP connection sends at its very beginning. */
const PROGRESS_BYTES = 16_384;

/** A body trickles if it has made no progress for so long. A slow start across an ocean takes less between two parts. */
const TRICKLES_AFTER_MS = 250;

interface Share {
  readonly maxBytes: number;
  readonly maxBodies: number;
  bytes: number;
  bodies: number;
  /** Bodies that are not here whole; the one that made progress longest ago comes first. */
  readonly arriving: Set<Body>;
}

interface Body {
  readonly cutOff: () => void;
  share: Share;
  isReleased: boolean;
  bytes: number;
  /** How large it was when it last made progress, and when that was. */
  progressBytes: number;
  progressAt: number;
}

/**
 * A signature can be checked once the body is whole, so anybody can fill this room with bodies that never end. Therefore bodies are sorted
 * by size and pace. Large ones have a few places, and take nothing of what ordinary ones share. Where there is no room, bodies that
 * trickle in are cut off. `now` is in milliseconds.
 */
export function createBodyBudget(limits: BodyLimits, now: () => number = () => performance.now()): BodyBudget {
  const places = largePlaces(limits);
  const large = createShare(places * limits.maxBodyBytes, places);
  const ordinary = createShare(limits.maxHeldBytes - large.maxBytes, limits.maxRequests ?? MOST_REQUESTS);

  /** Cuts off bodies that trickle in until there is room; each gives its own back at once. */
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
    // To make room this body itself may have been cut off.
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
      const body: Body = { cutOff, share: ordinary, isReleased: false, bytes: 0, progressBytes: 0, progressAt: now() };
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

const createShare = (maxBytes: number, maxBodies: number): Share => ({ maxBytes, maxBodies, bytes: 0, bodies: 0, arriving: new Set() });

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

/** The body comes last among those that arrive. */
function noteProgress(body: Body, bytes: number, at: number): void {
  body.progressBytes = bytes;
  body.progressAt = at;
  body.share.arriving.delete(body);
  body.share.arriving.add(body);
}

/** Large bodies together take at most half of the room, or as much as one needs. Where no body can be large, they have no places. */
function largePlaces({ maxBodyBytes, maxHeldBytes }: BodyLimits): number {
  return maxBodyBytes <= ORDINARY_BYTES ? 0 : Math.max(1, Math.floor(maxHeldBytes / 2 / maxBodyBytes));
}
