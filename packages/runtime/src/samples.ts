/**
 * Whether to log a line now: the first of its kind at once, then one a minute. Undefined: do not
 * log. Otherwise how many of its kind were left out since the last. Kinds are our words, never a
 * sender's.
 */
export type Samples = (kind: string) => { readonly leftOut: number } | undefined;

const MINUTE_MS = 60_000;

/** Limits log lines that any sender can cause. `now` is in milliseconds. */
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
