/**
 * Says whether a line is logged now: the first of its kind at once, then one in a minute. Gives undefined if it is not, else how many of its kind
 * were left out since the one before. Kinds are few and our own, never what a stranger has sent.
 */
export type Samples = (kind: string) => { readonly leftOut: number } | undefined;

const MINUTE_MS = 60_000;

/** For what anybody can make us log, as often as they like. `now` is in milliseconds. */
export function createSamples(now: () => number = () => performance.now()): Samples {
  const kinds = new Map<string, { at: number; leftOut: number }>();
  return (kind) => {
    const known = kinds.get(kind);
    if (known !== undefined && now() - known.at < MINUTE_MS) {
      known.leftOut++;
      return undefined;
    }
    kinds.set(kind, { at: now(), leftOut: 0 });
    return { leftOut: known?.leftOut ?? 0 };
  };
}
