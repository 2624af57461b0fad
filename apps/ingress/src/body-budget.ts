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
  /** Gives all room back, and takes none from then on. */
  release(): void;
}

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxHeldBytes: number;
  readonly maxRequests?: number;
}

/** Most deliveries that arrive or wait to be stored at one time. */
const MOST_REQUESTS = 10_000;

/** GitHub's bodies have 7 to 30 KB. TCP brings one across an ocean in less time. */
const ARRIVES_WITHIN_MS = 250;

interface Body {
  readonly cutOff: () => void;
  readonly begunAt: number;
  bytes: number;
  isReleased: boolean;
}

/**
 * A signature can be checked only on a whole body, so any sender can fill this memory with endless
 * bodies. Therefore, if there is no room, the bodies that have been arriving for longest are cut
 * off. `now` is in milliseconds.
 */
export function createBodyBudget(
  { maxBodyBytes, maxHeldBytes, maxRequests = MOST_REQUESTS }: BodyLimits,
  now: () => number = () => performance.now(),
): BodyBudget {
  /** Bodies that have not arrived whole, the oldest first. */
  const arriving = new Set<Body>();
  let heldBytes = 0;
  let requests = 0;

  /** Each body that is cut off gives its room back at once. */
  function makeRoom(bodies: number, bytes: number): boolean {
    const isFree = () => requests + bodies <= maxRequests && heldBytes + bytes <= maxHeldBytes;
    while (!isFree()) {
      const [oldest] = arriving;
      if (oldest === undefined || now() - oldest.begunAt < ARRIVES_WITHIN_MS) return false;
      oldest.cutOff();
    }
    return true;
  }

  function release(body: Body): void {
    if (body.isReleased) return;
    body.isReleased = true;
    arriving.delete(body);
    requests--;
    heldBytes -= body.bytes;
  }

  return {
    maxBodyBytes,
    get heldBytes() {
      return heldBytes;
    },
    get requests() {
      return requests;
    },
    admit: (cutOff) => {
      if (!makeRoom(1, 0)) return undefined;
      const body: Body = { cutOff, begunAt: now(), bytes: 0, isReleased: false };
      arriving.add(body);
      requests++;
      return {
        hold: (bytes) => {
          // `makeRoom` may cut off this body itself.
          if (body.isReleased || !makeRoom(0, bytes) || body.isReleased) return false;
          body.bytes += bytes;
          heldBytes += bytes;
          return true;
        },
        arrived: () => void arriving.delete(body),
        release: () => release(body),
      };
    },
  };
}
