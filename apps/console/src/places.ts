interface PlacesOptions {
  readonly most: number;
  readonly mostEach: number;
  /** How many of one caller may wait. They have no place, so no other caller lacks it. */
  readonly mostWaitingEach?: number;
}

/**
 * Takes a place for a caller, behind its earlier requests that wait. Undefined: there is none, also
 * not within 5 s. Otherwise call the result once the request is answered.
 */
export type Places = (caller: string) => Promise<(() => void) | undefined>;

/** As long as a statement may take. */
const LONGEST_WAIT_MS = 5_000;

interface Caller {
  taken: number;
  /** Called with the place of an answered request, in their order. */
  readonly waiting: Set<() => void>;
}

/** Bounds how many requests are answered at a time, in all and for one caller. */
export function createPlaces({ most, mostEach, mostWaitingEach = 0 }: PlacesOptions): Places {
  const callers = new Map<string, Caller>();
  let all = 0;
  return async (name) => {
    const caller = callers.get(name) ?? { taken: 0, waiting: new Set() };
    const leave = (): void => {
      const [next] = caller.waiting;
      if (next !== undefined) return next();
      all -= 1;
      caller.taken -= 1;
      if (caller.taken === 0) callers.delete(name);
    };
    if (all < most && caller.taken < mostEach) {
      all += 1;
      caller.taken += 1;
      callers.set(name, caller);
      return leave;
    }
    // A caller without a place is refused because of others: none of its own will be free.
    if (caller.taken === 0 || caller.waiting.size >= mostWaitingEach) return undefined;
    const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
    const end = (place?: () => void): void => {
      clearTimeout(timer);
      caller.waiting.delete(enter);
      resolve(place);
    };
    const enter = () => end(leave);
    const timer = setTimeout(end, LONGEST_WAIT_MS);
    caller.waiting.add(enter);
    return promise;
  };
}
