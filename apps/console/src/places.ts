/** Bounds how many requests are answered at a time, in all and for one caller. */
export interface Places {
  /** Undefined: there is no place. Otherwise call the result once the request is answered. */
  take(caller: string): (() => void) | undefined;
  /** As `take`, but waits for a place behind the caller's earlier requests, up to `longestMs`. */
  await(caller: string, longestMs: number): Promise<(() => void) | undefined>;
}

export interface PlacesOptions {
  readonly most: number;
  readonly mostEach: number;
  /** How many of one caller may wait. They have no place, so no other caller lacks it. */
  readonly mostWaitingEach?: number;
}

interface Caller {
  taken: number;
  /** Called with the place of an answered request, in their order. */
  readonly waiting: Set<() => void>;
}

export function createPlaces({ most, mostEach, mostWaitingEach = 0 }: PlacesOptions): Places {
  const callers = new Map<string, Caller>();
  let all = 0;

  const callerOf = (name: string): Caller => {
    const caller = callers.get(name) ?? { taken: 0, waiting: new Set() };
    callers.set(name, caller);
    return caller;
  };
  const leave = (name: string): void => {
    const caller = callerOf(name);
    const [next] = caller.waiting;
    if (next !== undefined) return next();
    all -= 1;
    caller.taken -= 1;
    if (caller.taken === 0) callers.delete(name);
  };
  const take: Places['take'] = (name) => {
    const caller = callers.get(name);
    if (all >= most || (caller?.taken ?? 0) >= mostEach) return undefined;
    all += 1;
    callerOf(name).taken += 1;
    return () => leave(name);
  };

  return {
    take,
    async await(name, longestMs) {
      const release = take(name);
      const caller = callers.get(name);
      // A caller without a place is refused because of others: none of its own will be free.
      if (release !== undefined || caller === undefined) return release;
      if (caller.waiting.size >= mostWaitingEach) return undefined;
      return new Promise((resolve) => {
        const end = (isIn: boolean): void => {
          clearTimeout(timer);
          caller.waiting.delete(enter);
          resolve(isIn ? () => leave(name) : undefined);
        };
        const enter = () => end(true);
        const timer = setTimeout(() => end(false), longestMs);
        caller.waiting.add(enter);
      });
    },
  };
}
