/** Bounds how many requests are answered at a time, in all and for one caller. */
export interface Places {
  /** Undefined: there is no place. Otherwise call the result once the request is answered. */
  take(caller: string): (() => void) | undefined;
}

export function createPlaces({ most, mostEach }: { most: number; mostEach: number }): Places {
  const taken = new Map<string, number>();
  let all = 0;
  const count = (caller: string, more: 1 | -1): void => {
    all += more;
    const now = (taken.get(caller) ?? 0) + more;
    if (now === 0) taken.delete(caller);
    else taken.set(caller, now);
  };
  return {
    take(caller) {
      if (all >= most || (taken.get(caller) ?? 0) >= mostEach) return undefined;
      count(caller, 1);
      return () => count(caller, -1);
    },
  };
}
