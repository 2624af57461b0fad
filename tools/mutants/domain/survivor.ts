/** A change of the domain that no test notices. */
export interface Survivor {
  readonly file: string;
  /** Counts from one. */
  readonly lineNumber: number;
  /** The line in which the change begins, without its indent. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
}

/** Why the survivors of one line may live. */
export interface Excuse {
  readonly file: string;
  /** The line, without its indent. */
  readonly line: string;
  /** How many there are, at most. */
  readonly survivors: number;
  readonly reason: string;
}

/** A text of several words is read by people; tests state the rule, not its wording. */
const isWording = ({ original }: Survivor): boolean => /^['"`].*[a-z,:] [a-z$'"]/i.test(original);

/** The compiler proves that no value gets to a `default` that `satisfies never`. */
const isUnreachable = ({ line }: Survivor): boolean => line === 'default:';

/** Gives the survivors that nothing excuses, and the excuses that nothing needs. */
export function compareSurvivors(
  survivors: readonly Survivor[],
  excuses: readonly Excuse[],
): { unexcused: readonly Survivor[]; unneeded: readonly Excuse[] } {
  const left = new Map(excuses.map((excuse) => [excuse, excuse.survivors]));
  const unexcused = survivors.filter((survivor) => {
    if (isWording(survivor) || isUnreachable(survivor)) return false;
    const [excuse, count] = [...left].find(([{ file, line }, open]) => open > 0 && file === survivor.file && line === survivor.line) ?? [];
    if (excuse === undefined || count === undefined) return true;
    left.set(excuse, count - 1);
    return false;
  });
  return { unexcused, unneeded: [...left].filter(([{ survivors: all }, open]) => open === all).map(([excuse]) => excuse) };
}
