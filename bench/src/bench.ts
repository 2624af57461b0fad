/**
 * How large a bench is: the thing it counts, its flag, and the default, least and greatest number.
 */
export interface Size {
  readonly flag: string;
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

/** One measurement of `bench NAME`, with its alternatives in the same run. */
export interface Bench {
  /** One line for the usage. */
  readonly about: string;
  readonly size: Size;
  /** More numbers, each with a flag. */
  readonly further?: readonly Size[];
  /** The flag that measures one part of it alone. */
  readonly part?: { readonly flag: string; readonly of: readonly string[] };
  /**
   * Measures; `say` takes lines of progress. The table is for people, the result is the line of
   * `--json`. `failed`: a measured value is outside its bounds.
   */
  run(
    size: number,
    say: (line: string) => void,
    given: { readonly part?: string; readonly further: Readonly<Record<string, number>> },
  ): Promise<{ table: string; result: object; failed?: boolean }>;
}
