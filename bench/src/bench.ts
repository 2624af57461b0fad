/**
 * How large a bench is: what it counts, by which flag, and how many of it by default, at least and
 * at most.
 */
export interface Size {
  readonly flag: string;
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

/** One thing that `bench NAME` measures, beside its alternatives in the same run. */
export interface Bench {
  /** One line for the usage. */
  readonly about: string;
  readonly size: Size;
  /** Further numbers, each with a flag of its own. */
  readonly further?: readonly Size[];
  /** By which flag one part of it can be measured alone. */
  readonly part?: { readonly flag: string; readonly of: readonly string[] };
  /**
   * Measures; `say` takes lines of progress. The table is for people, the result is what `--json`
   * prints. Failed: what was measured is not as it has to be.
   */
  run(
    size: number,
    say: (line: string) => void,
    given: { readonly part?: string; readonly further: Readonly<Record<string, number>> },
  ): Promise<{ table: string; result: object; failed?: boolean }>;
}
