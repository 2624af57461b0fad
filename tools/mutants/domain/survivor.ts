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

/** The reason why the survivors of some lines may live. */
export interface Excuse {
  readonly reason: string;
  /**
   * The file, below packages/domain/src; the beginning of the line, without its indent; and how
   * many survivors it may have.
   */
  readonly lines: readonly (readonly [file: string, line: string, survivors: number])[];
}

/** People read a text of several words. Tests check the rule, not its wording. */
const isWording = ({ original }: Survivor): boolean => /^['"`].*[a-z,:] [a-z$'"]/i.test(original);

/** The compiler proves that no value reaches a `default` with `satisfies never`. */
const isUnreachable = ({ line }: Survivor): boolean => line === 'default:';

/** Gives the survivors without an excuse, and the excuses without a survivor. */
export function compareSurvivors(
  survivors: readonly Survivor[],
  excuses: readonly Excuse[],
): { unexcused: readonly Survivor[]; unneeded: readonly string[] } {
  const excused = excuses.flatMap(({ lines }) =>
    lines.map(([file, line, most]) => ({
      file: `packages/domain/src/${file}`,
      line,
      most,
      left: most,
    })),
  );
  const unexcused = survivors.filter((survivor) => {
    if (isWording(survivor) || isUnreachable(survivor)) return false;
    const excuse = excused.find(
      ({ file, line, left }) =>
        left > 0 && file === survivor.file && survivor.line.startsWith(line),
    );
    if (excuse !== undefined) excuse.left -= 1;
    return excuse === undefined;
  });
  return {
    unexcused,
    unneeded: excused
      .filter(({ most, left }) => left === most)
      .map(({ file, line }) => `${file}: ${line}`),
  };
}
