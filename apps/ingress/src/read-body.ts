import express, { type Request, type Response } from 'express';

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'cut_off' | 'aborted' };

/** The budget counts the request until `release` is called. */
export type ReadBody = (
  request: Request,
  response: Response,
) => Promise<{ readonly body: Body; readonly release: () => void }>;

/** Reads bodies within the budget. The server limits their time. */
export function createReadBody(budget: BodyBudget): ReadBody {
  const { maxBodyBytes } = budget;
  const readRaw = express.raw({ type: () => true, limit: maxBodyBytes });

  return (request, response) => {
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<ReadBody>>>();
    const claim = budget.admit(() => cutOff());
    const release = () => claim?.release();
    const settle = (body: Body) => {
      if (body.kind === 'whole') claim?.arrived();
      else release();
      resolve({ body, release });
    };
    const cutOff = () => {
      // Express keeps what has come until the connection ends, and no more comes.
      request.pause();
      settle({ kind: 'cut_off' });
    };
    if (claim === undefined) {
      settle({ kind: 'overloaded' });
      return promise;
    }
    let size = Number(request.headers['content-length'] ?? 0) > maxBodyBytes ? Infinity : 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // Express reads the rest of a body that is too large, and keeps none of it.
      if (size > maxBodyBytes) release();
      else if (!claim.hold(chunk.length)) cutOff();
    });
    // A signature is over the bytes as they come.
    delete request.headers['content-encoding'];
    readRaw(request, response, (error?: { status?: number }) => {
      if (error !== undefined) settle({ kind: error.status === 413 ? 'too_large' : 'aborted' });
      else settle({ kind: 'whole', bytes: request.body ?? Buffer.alloc(0) });
    });
    return promise;
  };
}

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** Most deliveries that arrive or wait to be stored at one time. */
const MOST_REQUESTS = 10_000;

/** GitHub's bodies have 7 to 30 KB. TCP brings one across an ocean in less time. */
const ARRIVES_WITHIN_MS = 250;

interface Arriving {
  readonly cutOff: () => void;
  readonly begunAt: number;
  bytes: number;
  isReleased: boolean;
}

/**
 * The memory of this process for deliveries that are neither stored nor refused yet.
 *
 * A signature can be checked only on a whole body, so any sender can fill this memory with endless
 * bodies. Therefore, if there is no room, the bodies that have been arriving for longest are cut
 * off. `now` is in milliseconds.
 */
export function createBodyBudget(
  { maxBodyBytes, maxHeldBytes }: { maxBodyBytes: number; maxHeldBytes: number },
  now: () => number = () => performance.now(),
) {
  /** Bodies that have not arrived whole, the oldest first. */
  const arriving = new Set<Arriving>();
  let heldBytes = 0;
  let requests = 0;

  /** Each body that is cut off gives its room back at once. */
  function makeRoom(bodies: number, bytes: number): boolean {
    const isFree = () => requests + bodies <= MOST_REQUESTS && heldBytes + bytes <= maxHeldBytes;
    while (!isFree()) {
      const [oldest] = arriving;
      if (oldest === undefined || now() - oldest.begunAt < ARRIVES_WITHIN_MS) return false;
      oldest.cutOff();
    }
    return true;
  }

  function release(body: Arriving): void {
    if (body.isReleased) return;
    body.isReleased = true;
    arriving.delete(body);
    requests--;
    heldBytes -= body.bytes;
  }

  return {
    /** Largest body, in bytes. */
    maxBodyBytes,
    get heldBytes(): number {
      return heldBytes;
    },
    get requests(): number {
      return requests;
    },
    /**
     * Admits a request, and gives the room that it holds; undefined if there are too many. Calls
     * `cutOff` if its body must make room.
     */
    admit(cutOff: () => void) {
      if (!makeRoom(1, 0)) return undefined;
      const body: Arriving = { cutOff, begunAt: now(), bytes: 0, isReleased: false };
      arriving.add(body);
      requests++;
      return {
        /** Takes room for `bytes` more; false if there is none. */
        hold(bytes: number): boolean {
          // `makeRoom` may cut off this body itself.
          if (body.isReleased || !makeRoom(0, bytes) || body.isReleased) return false;
          body.bytes += bytes;
          heldBytes += bytes;
          return true;
        },
        /** The body has arrived whole, and is not cut off from now on. */
        arrived: () => void arriving.delete(body),
        /** Gives all room back, and takes none from then on. */
        release: () => release(body),
      };
    },
  };
}
